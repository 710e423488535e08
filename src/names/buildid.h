/* buildid.h - the build-id of a file, read without trusting it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_BUILDID_H
#define SEEP_NAMES_BUILDID_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads some KiB of headers and notes, within fixed bounds, and is fuzzed: it
 * needs no jail. Bytes of the id; 0: it has none, or is no ELF file of 64 bits.
 */
int buildid_find(int fd, uint8_t ret[32]);

/* Lower case, two digits a byte, at most 32 bytes. */
void buildid_hex(char to[65], const uint8_t *bytes, size_t len);

#endif

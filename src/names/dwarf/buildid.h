/* buildid.h - the build-id of a file, read without trusting it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BUILDID_H
#define SEEP_BUILDID_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads a few KiB of headers and notes, within fixed bounds. It is fuzzed, so
 * it needs no jail. Returns the bytes of the id; 0: it has none, or it is not a
 * 64-bit ELF file.
 */
int buildid_find(int fd, uint8_t ret[32]);

/* Lower case, two digits per byte, at most 32 bytes. */
void buildid_hex(char to[65], const uint8_t *bytes, size_t len);

#endif

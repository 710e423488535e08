/* buildid.h - the build-id of a file, read without trusting it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_BUILDID_H
#define SEEP_NAMES_BUILDID_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads some KiB of headers and notes, within fixed bounds; needs no jail.
 * Bytes of the id; 0: it has none, or is no ELF file of 64 bits; or a negative
 * errno as of open(), -EINVAL where it is no regular file.
 */
int buildid_read(const char *path, uint8_t ret[32]);

#endif

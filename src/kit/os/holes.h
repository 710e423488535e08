/* holes.h - does a file store the data that its tables claim, or holes? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HOLES_H
#define SEEP_HOLES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A file claims that `claimed` bytes are in its range [base, base + limit). Is
 * at least a part of that stored there? True for fd -1, which is memory. A hole
 * costs the author of the file nothing, and us memory and time. The tables of
 * the collector use at least every second page, so a factor of HOLES_FACTOR is
 * ample; claims below HOLES_FREE are not checked. On a file system without
 * holes everything is stored.
 */
enum { HOLES_FACTOR = 8, HOLES_FREE = 2 << 20 };

bool holes_allow(int fd, uint64_t base, uint64_t limit, uint64_t claimed);

#endif

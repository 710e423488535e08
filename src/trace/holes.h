/* holes.h - does a file hold what its tables say, or is it mostly holes? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRACE_HOLES_H
#define SEEP_TRACE_HOLES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Somebody says that `claimed` bytes lie in [base, base + limit) of a file: is at least a part of that stored there? True for fd -1, which is memory. A hole costs who made the
 * file nothing, and us memory and time. The collector's tables touch every
 * second page at the least, so a factor of HOLES_FACTOR is ample; below
 * HOLES_FREE nobody asks. Where a file system knows no holes, all is stored.
 */
enum { HOLES_FACTOR = 8, HOLES_FREE = 2 << 20 };

bool holes_allow(int fd, uint64_t base, uint64_t limit, uint64_t claimed);

#endif

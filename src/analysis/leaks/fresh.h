/* fresh.h - blocks that a process has got while it was looked at. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FRESH_H
#define SEEP_FRESH_H

#include <sys/types.h>

#include "host/memory/foreign.h"
#include "format/format.h"
#include "kit/os/fault.h"
#include "analysis/holders/grown.h"
#include "analysis/leaks/heap.h"
#include "host/memory/address_ranges.h"

/*
 * A look lists the blocks first and reads memory then. A program that puts new
 * items in front of a list meanwhile would lose all of it in every look: the
 * head of the list leads to a block that was not there yet, and nobody sees
 * that this one leads to the others. So the blocks are listed once more at the
 * end of a look. Those that are not in `heap`, or are others at the same
 * address, are roots; and `heap` learns where they begin. A block that realloc
 * has moved keeps its birth, so births say nothing here.
 *
 * Those are also added to `grown`, if it is not NULL, and settled there.
 *
 * *ret, empty before, is settled. budget_ns as of live_map_read(); `most`: so
 * many blocks at most. -E2BIG: more; -ENOMEM; all else as of live_map_read().
 */
int fresh_ranges(pid_t pid, struct foreign *memory, const struct seg_header *header,
    struct heap *heap, uint64_t budget_ns, size_t most, struct ranges *ret, struct grown *grown,
    struct fault *where);

#endif

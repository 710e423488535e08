/* jemalloc_memory.h - the memory that jemalloc keeps for itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JEMALLOC_MEMORY_H
#define SEEP_JEMALLOC_MEMORY_H

#include "host/memory/foreign.h"
#include "host/memory/address_ranges.h"
#include "host/proc/roots.h"

/*
 * jemalloc describes each run of pages in a record outside of it, which points
 * to the first block there; and each thread has arrays of free blocks, whose
 * unused ends point to blocks that are in use again. Taken for roots, these
 * would hold lost blocks. The records lie in large pieces of memory, each of
 * which begins with its own description, so they can be found and checked
 * (jemalloc 5). Where there is nothing of the kind, nothing is added. -ENOMEM,
 * or as of foreign_read().
 */
int jemalloc_memory_ranges(struct foreign *memory, const struct roots_areas *areas,
    struct ranges *ret, struct fault *where);

/* Is this page, at `address`, the beginning of such a piece? Its range. */
bool jemalloc_memory_is_base(
    uint64_t address, const void *page, struct range *ret, uint64_t *ret_used_end);

/* A record of pages; false: it is none. */
bool jemalloc_memory_is_record(const void *bytes, struct range *ret);

#endif

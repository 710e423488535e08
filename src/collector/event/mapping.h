/* mapping.h - the host's own mappings, by caller: what libseep-map.so reports. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MAPPING_H
#define SEEP_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/segment/segment.h"

/*
 * With SEEP_MAPPINGS=1 private anonymous mappings have sites of a kind of their
 * own, with the stack of the caller of mmap, and rows in an array of their own,
 * which is not part of the heap's totals. ranges.h knows which pages belong to
 * which site. A range keeps its site and its birth if it is moved or resized;
 * a part of it that is cut off counts as one more range.
 *
 * Lock-free; a signal handler may call everything. Whatever finds no room is
 * counted (SEG_LOST_MAPPINGS).
 */
extern SEEP_HIDDEN struct segment_table mapping_rows;

/* Ids begin at first_id; a forked child calls it again. False: no memory. */
bool mapping_init(uint32_t first_id);

/*
 * At the start: mappings whose caller is in the object with this function, the
 * malloc of another allocator, are one class. NULL: the allocator is libc's,
 * whose own mappings are made past every hook.
 */
void mapping_set_allocator(const void *function);

/* Calls fn for each range of this process, while fn returns true. */
void mapping_scan(bool (*fn)(uint32_t site, uint64_t size, uint32_t birth, void *arg), void *arg);

/* Has this process, a forked child, ranges of its own? */
bool mapping_any(void);

/* For libseep-map.so: after mmap has returned p to `c`. */
SEEP_EXPORT void seep_map_mapped(void *p, size_t bytes, int flags, const struct cpu_frame *c);

/*
 * Calls `unmap` with p and bytes, and returns its result. The range is taken
 * out of the table before the call, because another thread may get the address
 * at once; if the call fails, it is put back.
 */
typedef int mapping_unmap(void *p, size_t bytes);
SEEP_EXPORT int seep_map_unmap(void *p, size_t bytes, mapping_unmap *unmap);

/* The same for mremap; `to` is its last argument, or NULL. */
typedef void *mapping_move(void *old, size_t old_bytes, size_t bytes, int flags, void *to);
SEEP_EXPORT void *seep_map_move(
    void *old, size_t old_bytes, size_t bytes, int flags, void *to, mapping_move *move);

#endif

/* mapping.h - the host's own mappings, by caller. */
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
 * which is not part of the heap's totals. mapping.h knows which pages belong to
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

/* ---- ranges: which site each page of the host's own mappings belongs to ---- */

/*
 * A tree over page numbers (format/seg_mapped.h). A range can be taken out, cut and
 * put back at any page, and neighbours never become one. The tree only grows,
 * up to RANGES_NODES nodes of 512 bytes.
 *
 * Lock-free; a signal handler may call everything. Pages of one range are the
 * caller's own, as they are the caller's own in the kernel: whoever has mapped
 * them and not yet unmapped them. Two threads may cut one range at the same
 * time. If a program unmaps one page by two threads at once, which is an error
 * of the program, one of them may be counted twice. The table is private
 * memory, so a forked child has a copy.
 */
enum {
	RANGES_NODES = 1 << 16,
	RANGES_RUNS = 8, /* that can be put back; they are on the stack */
};

/* Pages of one range, from page number `first` to before `end`. */
struct ranges_run {
	uint64_t first, end;
	uint32_t site, birth;
	bool starts; /* the range begins here */
};

struct ranges_taken {
	uint32_t count;
	uint32_t beyond; /* runs that found no room in the list */
	uint32_t lost;
	uint32_t split; /* site of a range that begins at `end` from now on */
	uint64_t end;
	struct ranges_run runs[RANGES_RUNS];
};

extern SEEP_HIDDEN uint64_t ranges_root[];

/*
 * Takes out all pages from `first` to before `end`. If a range goes on at
 * `end`, that is where it begins from now on, and `split` is its site. Runs
 * beyond RANGES_RUNS go to `beyond`. `lost` counts entries that had to be taken
 * out as a whole, because there was no memory to cut them.
 */
void ranges_take(uint64_t first, uint64_t end, struct ranges_taken *ret,
    void (*beyond)(const struct ranges_run *run));

/* Puts everything back, because it was not unmapped after all. */
void ranges_put_back(const struct ranges_taken *t);

/*
 * Enters a run. Returns how many of its pages are in the table: fewer than it
 * has if there is no memory for the others.
 */
uint64_t ranges_put(const struct ranges_run *run);

/* Calls fn for each run in the order of addresses, while fn returns true. */
void ranges_scan(bool (*fn)(const struct ranges_run *run, void *arg), void *arg);

#endif

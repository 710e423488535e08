/* ranges.h - which site each page of the host's own mappings belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RANGES_H
#define SEEP_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"

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

/* sums.h - sums up the ledger's arrays by site id. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SUMS_H
#define SEEP_SUMS_H

#include "kit/data/dict.h"
#include "segments/read/segment_copy.h"

/*
 * The sums of one site id over all arrays, before equal stacks are merged. Sums
 * do not wrap. The share of the peak in a single row may be negative, but the
 * sum should not be.
 */
struct sum_row {
	uint32_t id;
	uint32_t last_tick;
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	uint64_t live_bytes; /* allocated - freed of all rows, modulo 2^64 */
	int64_t peak_bytes, peak_blocks;
	/* as in the rows; sizes from 2^32 - 1 on are in seg_info */
	uint64_t size_min, size_max;
	uint64_t samples, sampled_frees;
	seg_wide variance_allocated, variance_freed; /* variance of the bytes */
};

struct sums {
	struct sum_row *items; /* by id; ids where nothing happened: none */
	size_t count, room;
	struct dict index;
};

/*
 * Fills l, which is zero before. On -ENOMEM the caller still calls
 * sums_release().
 */
int sums_init(struct sums *l, const struct segment *seg);
void sums_release(struct sums *l);

/*
 * The sum of an id; added at the end, out of order, if it is new. NULL: no
 * memory.
 */
struct sum_row *sums_at(struct sums *l, uint32_t id);

/* Sorts them by id again. */
void sums_sort(struct sums *l);

#endif

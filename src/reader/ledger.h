/* ledger.h - the ledger's arrays summed by site id. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_LEDGER_H
#define SEEP_READER_LEDGER_H

#include "reader/index.h"
#include "reader/segment.h"

/*
 * One site id over all arrays, before equal stacks are merged. Sums saturate;
 * what a single row says of peaks may be negative, the sum should not be.
 */
struct ledger_sum {
	uint32_t id;
	uint32_t last_tick;
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
	uint64_t live_bytes; /* allocated - freed of all rows, modulo 2^64 */
	int64_t peak_bytes, peak_blocks;
	/* as rows have them: from 2^32 - 1 on it is what seg_info says */
	uint64_t size_min, size_max;
	uint64_t samples, sampled_frees;
	seg_wide variance_allocated, variance_freed; /* of bytes */
};

struct ledger {
	struct ledger_sum *items; /* by id; ids where nothing happened: none */
	size_t count, room;
	struct index index;
};

/* Fills l, which is zero before; -ENOMEM: l is still for ledger_release(). */
int ledger_init(struct ledger *l, const struct segment *seg);
void ledger_release(struct ledger *l);

/* The sum of an id, made where it has none; NULL: no memory. Not in order. */
struct ledger_sum *ledger_at(struct ledger *l, uint32_t id);

/* By id again. */
void ledger_sort(struct ledger *l);

#endif

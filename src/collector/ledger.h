/* ledger.h - the counters of sites, and the peak, in O(1) per event. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_LEDGER_H
#define SEEP_COLLECTOR_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/segment.h"
#include "collector/sites.h"
#include "collector/thread.h"
#include "collector/tick.h"

/*
 * Arrays of rows inside the segment, indexed by site. Arrays 0..15 have one
 * writer each, which uses plain stores; the others are shared and updated
 * with atomics. Readers sum.
 *
 * The peak (research/hotpath.md 5). An epoch is the time from one maximum of
 * the process's live bytes to the next. A row that changes for the first time
 * in an epoch first saves its live value: what it was when the maximum was
 * set. A row that has not changed since still has that value. So the value of
 * every site at the peak is known at any time, at the cost of one compare.
 *
 * The total is the sum of one published word per array. It must be summed
 * only when it may have passed the peak. With one array in use that is when
 * its own word does, and the check is exact. With n arrays the headroom (peak
 * less total) is shared out: each thread may grow by a share of it before it
 * sums again, but at least by total / (512 n). When a thread has used up its
 * share, the guard half of ledger_word changes and everyone takes a new share
 * at its next event, before it grows; so all shares together never exceed the
 * headroom by more than 1/512 of the total. Frees need no check at all.
 * Epoch and guard are one word, so a row's epoch test and the guard test
 * share a load that stays in the cache while nothing changes.
 */

/* epoch << 32 | guard */
extern SEEP_HIDDEN uint64_t ledger_word;

/* Up to SITES_MAX rows from first_id on; a forked child starts over. */
bool ledger_init(uint32_t first_id);

/* Opens array i for a new owner. False: no memory. */
bool ledger_claim(struct thread *t, uint32_t array);

/* Slow parts of the two functions below. */
struct seg_row *ledger_row_slow(struct thread *t, uint32_t site);
void ledger_sync(struct thread *t);
void ledger_peak(struct thread *t);
void ledger_sizes(struct seg_row *row, uint32_t site, uint64_t size);

/*
 * A block has died `age` ticks old, at least one. t is a thread that may write
 * to its own array; NULL: any other.
 */
void ledger_age(struct thread *t, uint32_t site, uint32_t age);

/*
 * This return address has freed a block of the site. Of frees that have looked
 * at the clock alone: they are as good as a sample.
 */
void ledger_freed_by(uint32_t site, uint64_t pc);

void ledger_sizes_shared(struct seg_row *row, uint32_t site, uint64_t size);

/* What lives now, all threads together. */
int64_t ledger_live_bytes(void);

/* Before a row that is shared changes: its part of the last peak. */
void ledger_save_share(struct seg_row *row);

/* A thread beyond the owned arrays: it shares one. False: no memory. */
bool ledger_share(struct thread *t, uint32_t array);

/*
 * By threads that share an array, and with t = NULL by nested events, which
 * all use the last one: atomics.
 */
bool ledger_alloc_shared(struct thread *t, uint32_t site, uint64_t size);
bool ledger_free_shared(struct thread *t, uint32_t site, uint64_t size);

/*
 * Sampled mode, any thread (NULL: nested or off): a block that stands for
 * sample_weight(size) blocks. Atomics throughout: samples are rare.
 */
bool ledger_sampled_alloc(struct thread *t, uint32_t site, uint64_t size);
bool ledger_sampled_free(struct thread *t, uint32_t site, uint64_t size);

/* A child's free of what it inherited. */
void ledger_inherited(uint32_t site, uint64_t size);

bool ledger_is_inherited(uint32_t site);

/* The tables in use, for segment_move(). Returns their number. */
size_t ledger_tables(struct segment_table **ret_tables, size_t max);

/*
 * Allocations and frees of the heap so far; of sampled ones the estimates. 0:
 * it takes longer than until_ns.
 */
uint64_t ledger_events(uint64_t until_ns);

/* All rows of a ledger that is small: a forked child's first events. */
struct ledger_sums {
	uint64_t allocations, allocated_bytes, frees, freed_bytes;
};
struct ledger_sums ledger_sums(void);

/*
 * Adds a living block to the record that the destructor writes, at the tick
 * `now`. False: there is no room for it.
 */
bool ledger_fold_live(
    uint32_t site, uint64_t size, uint32_t birth, uint32_t now);

/* The row of a site, if it is open. No call. */
SEEP_INLINE struct seg_row *
ledger_open_row(const struct thread *t, uint32_t site)
{
	uint32_t i = site - t->first_id;
	uint8_t *chunk;

	if (unlikely(i >= SITES_MAX))
		return NULL;
	chunk = t->rows[i >> 7];
	if (unlikely(!chunk))
		return NULL;
	return (struct seg_row *)(void *)chunk + (i & 127);
}

SEEP_INLINE struct seg_row *
ledger_row(struct thread *t, uint32_t site)
{
	struct seg_row *row = ledger_open_row(t, site);

	return likely(row) ? row : ledger_row_slow(t, site);
}

/* The first change of a row in an epoch saves what it was at the peak. */
SEEP_INLINE void
ledger_touch(struct seg_row *row, uint64_t word)
{
	if (unlikely(row->epoch != (uint32_t)(word >> 32))) {
		row->snap_bytes =
		    (int64_t)(row->allocated_bytes - row->freed_bytes);
		row->snap_blocks = (int64_t)(row->allocations - row->frees);
		row->epoch = (uint32_t)(word >> 32);
	}
}

/* An open row, ready for a free to be counted in. */
SEEP_INLINE struct seg_row *
ledger_settled(const struct thread *t, uint32_t site)
{
	struct seg_row *row = ledger_open_row(t, site);

	if (likely(row))
		ledger_touch(row, LOAD(&ledger_word));
	return row;
}

/* The size is none that the row's smallest and largest include. */
SEEP_INLINE bool
ledger_size_is_new(const struct seg_row *row, uint64_t size)
{
	return unlikely(size - row->size_min > row->size_span);
}

SEEP_INLINE void
ledger_count_alloc(
    struct thread *t, struct seg_row *row, uint64_t size, uint32_t tick)
{
	cpu_add_counter(&row->allocations, 1);
	cpu_add_counter(&row->allocated_bytes, size);
	STORE(&row->last_tick, tick);
	cpu_add_counter((uint64_t *)t->net, size);
}

SEEP_INLINE void
ledger_count_free(struct thread *t, struct seg_row *row, uint64_t size)
{
	cpu_add_counter(&row->frees, 1);
	cpu_add_counter(&row->freed_bytes, size);
	cpu_add_counter((uint64_t *)t->net, -size);
}

/*
 * By the owner of its array: ledger_age() where nothing has to be opened. False:
 * nothing is booked.
 */
SEEP_INLINE bool
ledger_age_fast(const struct thread *t, uint32_t site, uint32_t age)
{
	uint32_t i = site - t->first_id;
	uint8_t *chunk;

	if (age >= SEG_YOUNG_TICKS || !t->ages || i >= SITES_MAX)
		return false;
	chunk = t->ages[i >> 8];
	if (unlikely(!chunk))
		return false;
	cpu_add_counter(&((struct seg_ages *)(void *)chunk)[i & 255]
	                     .deaths[seg_age_step(age)],
	    1);
	return true;
}

/* After ledger_count_alloc(): call ledger_peak()? */
SEEP_INLINE bool
ledger_is_high(const struct thread *t)
{
	return unlikely(*t->net > t->high);
}

SEEP_INLINE struct seg_row *
ledger_row_touched(struct thread *t, uint32_t site)
{
	struct seg_row *row = ledger_row(t, site);
	uint64_t word = LOAD(&ledger_word);

	if (unlikely(!row))
		return NULL;
	if (unlikely(word != t->seen))
		ledger_sync(t);
	ledger_touch(row, word);
	return row;
}

/* Owner of its array only. False: not booked, the caller counts. */
SEEP_INLINE bool
ledger_alloc(struct thread *t, uint32_t site, uint64_t size)
{
	struct seg_row *row = ledger_row_touched(t, site);

	if (unlikely(!row))
		return false;
	if (ledger_size_is_new(row, size))
		ledger_sizes(row, site, size);
	ledger_count_alloc(t, row, size, tick_now());
	if (ledger_is_high(t))
		ledger_peak(t);
	return true;
}

SEEP_INLINE bool
ledger_free(struct thread *t, uint32_t site, uint64_t size)
{
	struct seg_row *row = ledger_row_touched(t, site);

	if (unlikely(!row))
		return false;
	ledger_count_free(t, row, size);
	return true;
}

#endif

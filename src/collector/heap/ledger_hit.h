/* ledger_hit.h - the ledger, as the thread that owns an array uses it inline. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEDGER_HIT_H
#define SEEP_LEDGER_HIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/heap/ledger.h"
#include "collector/segment/tick.h"

/* The row of a site in the array of the thread; NULL if it is not open. */
SEEP_INLINE struct seg_row *ledger_open_row(const struct thread *t, uint32_t site)
{
	uint32_t i = site - t->ledger.first_id;
	uint8_t *chunk;

	if (unlikely(i >= SITES_MAX))
		return NULL;
	chunk = t->ledger.rows[i >> 7];
	if (unlikely(!chunk))
		return NULL;
	return (struct seg_row *)(void *)chunk + (i & 127);
}

/* The same, and the row is opened; NULL if there is no memory. */
SEEP_INLINE struct seg_row *ledger_row(struct thread *t, uint32_t site)
{
	struct seg_row *row = ledger_open_row(t, site);

	return likely(row) ? row : ledger_row_slow(t, site);
}

/* Before a row changes: saves its figures if this is the first time since the peak. */
SEEP_INLINE void ledger_touch(struct seg_row *row, uint64_t word)
{
	if (unlikely(row->epoch != (uint32_t)(word >> 32))) {
		row->snap_bytes = (int64_t)(row->allocated_bytes - row->freed_bytes);
		row->snap_blocks = (int64_t)(row->allocations - row->frees);
		row->epoch = (uint32_t)(word >> 32);
	}
}

/*
 * The thread has seen this ledger word. One that looks at the clock at each event,
 * because it has few or has just paused, is said to have seen no epoch. Inline it
 * would look behind an allocation, which would get the tick of the event before:
 * seconds or hours ago. So its allocations are not recorded inline, and where
 * they are, the clock is looked at first.
 */
SEEP_INLINE void ledger_saw(struct thread *t, uint64_t word)
{
	t->ledger.seen = t->pace.period > 1 ? word : (uint32_t)word;
}

/* An open row in which a free can be counted; NULL if it is not open. */
SEEP_INLINE struct seg_row *ledger_settled(const struct thread *t, uint32_t site)
{
	struct seg_row *row = ledger_open_row(t, site);

	if (likely(row))
		ledger_touch(row, LOAD(&ledger_word));
	return row;
}

/* Is the size outside of the smallest and largest size of the row? */
SEEP_INLINE bool ledger_size_is_new(const struct seg_row *row, uint64_t size)
{
	return unlikely(size - row->size_min > row->size_span);
}

SEEP_INLINE void ledger_count_alloc(
    struct thread *t, struct seg_row *row, uint64_t size, uint32_t tick)
{
	cpu_add_counter(&row->allocations, 1);
	cpu_add_counter(&row->allocated_bytes, size);
	STORE(&row->last_tick, tick);
	cpu_add_counter((uint64_t *)t->ledger.net, size);
}

SEEP_INLINE void ledger_count_free(struct thread *t, struct seg_row *row, uint64_t size)
{
	cpu_add_counter(&row->frees, 1);
	cpu_add_counter(&row->freed_bytes, size);
	cpu_add_counter((uint64_t *)t->ledger.net, -size);
}

/*
 * Does what ledger_age() does if no table has to be opened for it. If it returns
 * false, nothing was counted.
 */
SEEP_INLINE bool ledger_age_fast(const struct thread *t, uint32_t site, uint32_t age)
{
	uint32_t i = site - t->ledger.first_id;
	uint8_t *chunk;

	if (age >= SEG_YOUNG_TICKS || !t->ledger.ages || i >= SITES_MAX)
		return false;
	chunk = t->ledger.ages[i >> 8];
	if (unlikely(!chunk))
		return false;
	cpu_add_counter(&((struct seg_ages *)(void *)chunk)[i & 255].deaths[seg_age_step(age)], 1);
	return true;
}

/* After ledger_count_alloc(): must ledger_peak() be called? */
SEEP_INLINE bool ledger_is_high(const struct thread *t)
{
	return unlikely(*t->ledger.net > t->ledger.high);
}

/* A row that may be changed now; NULL if there is no memory. */
SEEP_INLINE struct seg_row *ledger_row_touched(struct thread *t, uint32_t site)
{
	struct seg_row *row = ledger_row(t, site);
	uint64_t word = LOAD(&ledger_word);

	if (unlikely(!row))
		return NULL;
	if (unlikely(word != t->ledger.seen))
		ledger_sync(t);
	ledger_touch(row, word);
	return row;
}

/*
 * Count an event completely. If they return false, it was not counted, and the
 * caller counts the loss.
 */
SEEP_INLINE bool ledger_alloc(struct thread *t, uint32_t site, uint64_t size)
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

SEEP_INLINE bool ledger_free(struct thread *t, uint32_t site, uint64_t size)
{
	struct seg_row *row = ledger_row_touched(t, site);

	if (unlikely(!row))
		return false;
	ledger_count_free(t, row, size);
	return true;
}

#endif

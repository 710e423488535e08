/* flying.h - recording an event of a thread with a flight recorder (THREAD_FLYING). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLYING_H
#define SEEP_FLYING_H

#include "collector/log/flight.h"
#include "collector/log/log.h"
#include "collector/event/recorder_hit.h"

/*
 * As the functions _hit of recorder_hit.h, for a thread whose state is
 * THREAD_FLYING instead of THREAD_READY. If one of them returns false, nothing
 * was recorded, and the thread is still busy.
 */

SEEP_INLINE bool flying_is_ready(const struct gate *g)
{
	return g && LOAD(&g->state) == THREAD_FLYING;
}

/* Afterwards the allocation is stored, if it is not one that was resized. */
SEEP_INLINE bool flying_book_hit(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, uint32_t site)
{
	if (unlikely(size >= LOG_LARGE) || unlikely(!flight_has_room(t, tick_now())) ||
	    unlikely(!recorder_book_hit(t, p, size, c, site, RECORDER_NOW)))
		return false;
	flight_put(t, flight_alloc_word(site, size), (uint64_t)(uintptr_t)p);
	return true;
}

SEEP_INLINE bool flying_alloc_hit(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	uint32_t site;

	return likely(memo_first(t, c, memo_key(c, api), &site)) &&
	    flying_book_hit(t, p, size, c, site);
}

/*
 * A free in three steps, as in recorder_hit.h; the thread is busy. First: finds
 * the block and its row. NULL: recorder_free_any() has to do it.
 */
SEEP_INLINE struct seg_row *flying_find(struct thread *t, const void *p, struct live_found *ret)
{
	struct seg_row *row;

	/* the clock first: this may be the first event after a pause */
	if (unlikely(t->pace.countdown <= 1) || unlikely(!flight_has_room(t, tick_now())))
		return NULL;
	row = recorder_find(t, p, ret);
	if (unlikely(!row) || unlikely(ret->block.size >= FLIGHT_FREED_LARGE))
		return NULL;
	return row;
}

/* Third, after recorder_has_aged() and recorder_age(). */
SEEP_INLINE void flying_drop(
    struct thread *t, const void *p, const struct live_found *f, struct seg_row *row, uint32_t age)
{
	t->pace.countdown--;
	flight_put(t, flight_free_word(f->block.site, flight_age_code(age), f->block.size),
	    (uint64_t)(uintptr_t)p);
	recorder_drop(t, f, row);
}

/* After flying_alloc_hit(), if recorder_is_due(). Returns p. */
void *flying_after(void *p);

/* As recorder_alloc_last(): the hook has not found the stack. The thread is busy. */
void *flying_alloc_last(
    void *p, uint64_t size, uint64_t pc, uint64_t sp, uint64_t fp, enum seg_api api);

/* Other allocations and frees; the thread is in FLYING, and not busy. */
void flying_alloc(
    struct gate *g, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api);
bool flying_free(struct gate *g, const void *p);

/* After a realloc that has succeeded; `b` was taken out of the live map. */
void flying_realloc(struct gate *g, const void *old, struct live_block b, const void *p,
    uint64_t size, const struct cpu_frame *c, enum seg_api api);

#endif

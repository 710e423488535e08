/* logged.h - recording an event of a thread that logs (THREAD_LOGGING). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGGED_H
#define SEEP_LOGGED_H

#include "collector/log/log.h"
#include "collector/event/recorder_hit.h"

/*
 * As the functions _hit of recorder_hit.h, for a thread whose state is
 * THREAD_LOGGING instead of THREAD_READY: the words of the log are stored, too. A
 * state of its own, so that a thread without a log is not slowed down. If one of
 * them returns false, nothing was recorded, and the thread is still busy.
 *
 * log.c changes the state to THREAD_LOSING and back. A thread in LOSING has
 * `loses` set, but one with `loses` may also be in LOGGING, where its events
 * find no room and take a slower path.
 */

SEEP_INLINE bool logged_is_ready(const struct gate *g)
{
	return g && thread_home(LOAD(&g->state)) == THREAD_LOGGING;
}

/*
 * As recorder_book_hit(); the thread is busy, and stays so. With `loses` the
 * event is lost. What differs is loaded last, so that no register is saved.
 */
SEEP_INLINE bool logged_book(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, uint32_t site, const bool loses)
{
	struct seg_row *row;
	uint64_t word, *cell;

	if (unlikely(LOAD(lifecycle_command) != lifecycle_obeyed))
		return false;
	verify_site((struct site_id){site}, c);
	word = LOAD(&ledger_word);
	if (unlikely(word != t->ledger.seen))
		return false;
	row = ledger_open_row(t, site);
	if (unlikely(!row))
		return false;
	ledger_touch(row, word);
	if (ledger_size_is_new(row, size) || unlikely(size >= LOG_LARGE))
		return false;
	cell = live_vacant(&t->leaves, (uint64_t)(uintptr_t)p, size);
	if (unlikely(!cell) || (!loses && unlikely(!log_has_room(t))))
		return false;
	live_store(
	    cell, (uint64_t)(uintptr_t)p, site, size, loses ? t->log.lost_name : t->log.next);
	if (loses)
		log_lose(t, 1);
	else
		log_put(t, log_alloc_word(site, size));
	ledger_count_alloc(t, row, size, tick_now());
	return true;
}

/* As recorder_alloc_second(). */
SEEP_INLINE bool logged_alloc_second(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, struct memo_chunk *first, uint32_t i,
    const bool loses)
{
	uint32_t site;

	if (unlikely(!memo_second(t, c, memo_key(c, api), first, i, &site)) ||
	    !logged_book(t, p, size, c, site, loses))
		return false;
	first->passed_over++;
	return true;
}

/*
 * A free in three steps, as in recorder_hit.h; the thread is busy, and has counted
 * down: if it came to 0, logged_free_look() does it. First: finds
 * the block and its row. NULL: recorder_free_known() has to do it, and so it has
 * to if there is no room in the log, which is looked at as late as possible: one
 * register more, and free_logging() would have to save it.
 */
SEEP_INLINE struct seg_row *logged_find(struct thread *t, const void *p, struct live_found *ret)
{
	*ret = live_find(&t->leaves, (uint64_t)(uintptr_t)p);
	/* the name first: then the cell needs no register any more */
	if (unlikely(!ret->block.site) || unlikely(!log_is_named(ret->block.birth)))
		return NULL;
	return ledger_settled(t, ret->block.site);
}

/*
 * Second: counts the age, unless the block is born in this tick. Most blocks are
 * of a chunk that was opened in this tick, and need no look at its births.
 */
SEEP_INLINE bool logged_may_have_aged(const struct thread *t, const struct live_found *f)
{
	return unlikely(f->block.birth < t->log.fresh);
}

/* False: nothing was counted. */
SEEP_INLINE bool logged_age(const struct thread *t, const struct live_found *f)
{
	const struct log_birth *b = log_birth_entry(f->block.birth);
	uint32_t tick = tick_now(), age;

	if (b->first == tick)
		return true;
	age = tick - log_birth_tick(b, f->block.birth);
	return !age || ledger_age_fast(t, f->block.site, age);
}

/* Third: counts the free, if log_has_room(). */
SEEP_INLINE void logged_drop(struct thread *t, const struct live_found *f, struct seg_row *row)
{
	log_put(t, log_free_word(f->block.birth));
	recorder_drop(t, f, row);
}

/* ---- the same for a thread that loses its events ------------------------- */

/* All blocks that were lost in this tick have the same name. */
SEEP_INLINE bool logged_may_have_aged_lost(const struct thread *t, const struct live_found *f)
{
	return unlikely(f->block.birth != t->log.lost_name);
}

SEEP_INLINE void logged_drop_lost(struct thread *t, const struct live_found *f, struct seg_row *row)
{
	log_lose(t, 1);
	recorder_drop(t, f, row);
}

/* After logged_book(), if recorder_is_due(). Returns p. */
void *logged_after(void *p);

/*
 * As recorder_alloc_last() and recorder_alloc_at(): the hook has not found the
 * stack, or could not record the event. The thread is busy.
 */
void *logged_alloc_last(
    void *p, uint64_t size, uint64_t pc, uint64_t sp, uint64_t fp, enum seg_api api);
void logged_alloc_at(struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c,
    enum seg_api api, struct memo_chunk *e, uint32_t checks);

/* Other allocations and frees, if logged_is_ready(); the thread is not busy. */
void logged_alloc(
    struct gate *g, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api);
void logged_free(struct gate *g, const void *p, uint64_t pc);

/*
 * A free that looks at the clock first, because this may be the first event after
 * a pause. The thread is busy, and is not any more.
 */
void logged_free_look(const void *p, uint64_t pc);

/*
 * After a realloc that has succeeded, if logged_is_ready(); `b` was taken out of
 * the live map. The thread is not busy.
 */
void logged_realloc(struct gate *g, const void *old, struct live_block b, const void *p,
    uint64_t size, const struct cpu_frame *c, enum seg_api api);

#endif

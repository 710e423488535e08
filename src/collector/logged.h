/* logged.h - recording an event of a thread that logs (THREAD_LOGGING). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_LOGGED_H
#define SEEP_COLLECTOR_LOGGED_H

#include "collector/log.h"
#include "collector/recorder_hit.h"

/*
 * As the functions _hit of recorder_hit.h, for a thread whose state is
 * THREAD_LOGGING instead of THREAD_READY: the words of the log are stored, too. A
 * state of its own, so that a thread without a log is not slowed down. If one of
 * them returns false, nothing was recorded, and the thread is still busy.
 */

SEEP_INLINE bool
logged_is_ready(const struct gate *g)
{
	return g && LOAD(&g->state) == THREAD_LOGGING;
}

/* As recorder_book_hit(); the thread is busy, and stays so. */
SEEP_INLINE bool
logged_book_hit(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, uint32_t site)
{
	struct seg_row *row;
	uint64_t word, *cell;

	if (unlikely(LOAD(lifecycle_command) != lifecycle_obeyed))
		return false;
	verify_site((struct site_id){site}, c);
	word = LOAD(&ledger_word);
	if (unlikely(word != t->seen))
		return false;
	row = ledger_open_row(t, site);
	if (unlikely(!row))
		return false;
	ledger_touch(row, word);
	if (ledger_size_is_new(row, size) || unlikely(size >= LOG_LARGE) ||
	    unlikely(!log_has_room(t)))
		return false;
	cell = live_vacant(&t->live, (uint64_t)(uintptr_t)p, size);
	if (unlikely(!cell))
		return false;
	live_store(cell, (uint64_t)(uintptr_t)p, site, size, log_next_name(t));
	log_put(t, log_alloc_word(site, size));
	ledger_count_alloc(t, row, size, tick_now());
	return true;
}

/* As recorder_alloc_second(). */
SEEP_INLINE bool
logged_alloc_second(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, struct memo_chunk *first,
    uint32_t i)
{
	uint64_t checks;
	uint32_t site;
	const struct memo_chunk *e =
	    memo_second(t, c, memo_key(c, api), first, i, &checks);

	if (unlikely(!e) || unlikely(!memo_holds(t, e, checks, &site)) ||
	    !logged_book_hit(t, p, size, c, site))
		return false;
	first->passed_over++;
	return true;
}

/*
 * A free in three steps, as in recorder_hit.h; the thread is busy, and has counted
 * down: if it came to 0, logged_free_look() does it. First: finds
 * the block and its row. NULL: recorder_free_known() has to do it.
 */
SEEP_INLINE struct seg_row *
logged_find(struct thread *t, const void *p, struct live_found *ret)
{
	struct seg_row *row;

	if (unlikely(!log_has_room(t)))
		return NULL;
	row = recorder_find(t, p, ret);
	if (unlikely(!row) || unlikely(!log_is_named(ret->block.birth)))
		return NULL;
	return row;
}

/*
 * Second: counts the age, unless the block is born in this tick. Most blocks are
 * of a chunk that was opened in this tick, and need no look at its births.
 */
SEEP_INLINE bool
logged_has_aged(const struct thread *t, const struct live_found *f)
{
	return unlikely(f->block.birth < t->log_fresh) &&
	    unlikely(log_birth_entry(f->block.birth)->first != tick_now());
}

/* False: nothing was counted. */
SEEP_INLINE bool
logged_age(const struct thread *t, const struct live_found *f)
{
	uint32_t age = tick_now() - log_birth(f->block.birth);

	return !age || ledger_age_fast(t, f->block.site, age);
}

/* Third: counts the free. */
SEEP_INLINE void
logged_drop(struct thread *t, const struct live_found *f, struct seg_row *row)
{
	log_put(t, log_free_word(f->block.birth));
	recorder_drop(t, f, row);
}

/* ---- the same for a thread that loses its events ------------------------- */

SEEP_INLINE bool
logged_alloc_lost(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api)
{
	const uint32_t birth = t->log_bias;

	if (birth == RECORDER_NOW) /* no name is, but the compiler asks */
		__builtin_unreachable();
	if (unlikely(!log_loses(t, tick_now())) ||
	    unlikely(!recorder_alloc_hit(t, p, size, c, api, birth)))
		return false;
	log_lose(t);
	return true;
}

SEEP_INLINE struct seg_row *
logged_find_lost(struct thread *t, const void *p, struct live_found *ret)
{
	return likely(log_loses(t, tick_now())) ? recorder_find(t, p, ret)
	                                        : NULL;
}

/* All blocks that were lost in this tick have the same name. */
SEEP_INLINE bool
logged_has_aged_lost(const struct thread *t, const struct live_found *f)
{
	return unlikely(f->block.birth != t->log_bias);
}

SEEP_INLINE void
logged_drop_lost(
    struct thread *t, const struct live_found *f, struct seg_row *row)
{
	log_lose(t);
	recorder_drop(t, f, row);
}

/* After logged_book_hit(), if recorder_is_due(). Returns p. */
void *logged_after(void *p);

/*
 * As recorder_alloc_last() and recorder_alloc_at(): the hook has not found the
 * stack, or could not record the event. The thread is busy.
 */
void *logged_alloc_last(void *p, uint64_t size, uint64_t pc, uint64_t sp,
    uint64_t fp, enum seg_api api);
void logged_alloc_at(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, struct memo_chunk *e,
    uint32_t checks);

/* Other allocations and frees; the thread is in LOGGING, and not busy. */
void logged_alloc(struct gate *g, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api);
void logged_free(struct gate *g, const void *p, uint64_t pc);

/*
 * A free that looks at the clock first, because this may be the first event after
 * a pause. The thread is busy, and is not any more.
 */
void logged_free_look(const void *p, uint64_t pc);

/*
 * After a realloc that has succeeded; `b` was taken out of the live map. The
 * thread is in LOGGING, and not busy.
 */
void logged_realloc(struct gate *g, const void *old, struct live_block b,
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api);

#endif

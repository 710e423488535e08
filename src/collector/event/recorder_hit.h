/* recorder_hit.h - the usual event, recorded inline: nothing is called or mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORDER_HIT_H
#define SEEP_RECORDER_HIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/heap/ledger_hit.h"
#include "collector/lifecycle.h"
#include "collector/heap/live_hit.h"
#include "collector/stack/memo.h"
#include "collector/event/recorder.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"
#include "collector/stack/verify.h"

SEEP_INLINE bool recorder_is_ready(const struct gate *g)
{
	return likely(g && g->state == THREAD_READY);
}

/* ---- allocations ---------------------------------------------------------- */

/* The second half of recorder_alloc_hit(), when the site is known. */
SEEP_INLINE bool recorder_book_hit(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, uint32_t site, uint32_t birth)
{
	struct seg_row *row;
	uint64_t word;
	uint32_t tick;

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
	tick = tick_now();
	if (ledger_size_is_new(row, size) ||
	    unlikely(!live_put_fast(&t->leaves, (uint64_t)(uintptr_t)p, site, size,
	        birth == RECORDER_NOW ? tick : birth)))
		return false;
	ledger_count_alloc(t, row, size, tick);
	return true;
}

/*
 * Records an allocation if the memo knows its stack and nothing has to be
 * opened, enlarged or renewed. The thread is busy. If it returns false, nothing
 * was recorded.
 */
SEEP_INLINE bool recorder_alloc_hit(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	uint32_t site;

	return likely(memo_first(t, c, memo_key(c, api), &site)) &&
	    recorder_book_hit(t, p, size, c, site, birth);
}

/*
 * The same, after memo_look() has found that word i of the chunk `first`
 * differs: for stacks that take turns, and have the first words in common.
 */
SEEP_INLINE bool recorder_alloc_second(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, struct memo_chunk *first, uint32_t i)
{
	uint32_t site;

	if (unlikely(!memo_second(t, c, memo_key(c, api), first, i, &site)) ||
	    !recorder_book_hit(t, p, size, c, site, RECORDER_NOW))
		return false;
	first->passed_over++;
	return true;
}

/*
 * The site of a caller, with the searches of these functions and of memo_site().
 * The thread is busy.
 */
SEEP_INLINE uint32_t recorder_site(struct thread *t, const struct cpu_frame *c, enum seg_api api)
{
	const uint64_t key = memo_key(c, api);
	uint32_t i, site;
	uint64_t checks;
	struct memo_chunk *e = memo_look(t, c, key, &i, &checks);

	if (likely(i == MEMO_WORDS)) {
		if (unlikely(!memo_is_stamped(t, e, checks, &site)))
			return memo_site_at(t, c, api, e, 0).v;
		i = memo_fails(t, checks);
		return unlikely(i) ? memo_site_at(t, c, api, e, i).v : site;
	}
	if (i >= MEMO_WORDS || !memo_second(t, c, key, e, i, &site))
		return memo_site(t, c, api).v;
	e->passed_over++;
	return site;
}

/* After recorder_alloc_hit(): must recorder_after() be called? */
SEEP_INLINE bool recorder_is_due(struct thread *t)
{
	return unlikely(--t->pace.countdown == 0) || ledger_is_high(t);
}

/* After recorder_alloc_hit(), in a hook that has more to do. */
SEEP_INLINE void recorder_leave(struct gate *g, struct thread *t)
{
	if (recorder_is_due(t))
		recorder_after(NULL);
	else
		thread_leave(g);
}

/* ---- frees, in three steps ------------------------------------------------ */

/* First: finds the block, and its row, which is NULL if it is not open. */
SEEP_INLINE struct seg_row *recorder_find(struct thread *t, const void *p, struct live_found *ret)
{
	*ret = live_find(&t->leaves, (uint64_t)(uintptr_t)p);
	return likely(ret->block.site) ? ledger_settled(t, ret->block.site) : NULL;
}

/*
 * Second: counts the age. Most blocks die in the tick in which they were born,
 * and for these this comparison is all that ages cost.
 */
SEEP_INLINE bool recorder_has_aged(const struct live_found *f)
{
	return unlikely(tick_now() != f->block.birth);
}

SEEP_INLINE bool recorder_age(const struct thread *t, const struct live_found *f)
{
	return ledger_age_fast(t, f->block.site, tick_now() - f->block.birth);
}

/* Third: removes the block from the live map and counts the free. */
SEEP_INLINE void recorder_drop(struct thread *t, const struct live_found *f, struct seg_row *row)
{
	live_drop(f);
	ledger_count_free(t, row, f->block.size);
}

/* ---- realloc -------------------------------------------------------------- */

/*
 * Records a realloc that has succeeded: `b` was taken out of the live map before
 * the call. If it returns false, nothing was recorded.
 */
SEEP_INLINE bool recorder_realloc_hit(struct gate *g, struct thread *t, struct live_block b,
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct seg_row *row;

	thread_enter(g);
	row = ledger_settled(t, b.site);
	if (unlikely(!row)) {
		thread_leave(g);
		return false;
	}
	ledger_count_free(t, row, b.size);
	if (unlikely(!recorder_alloc_hit(t, p, size, c, api, b.birth)))
		recorder_alloc_ready(t, p, size, c, api, b.birth);
	else
		recorder_leave(g, t);
	return true;
}

#endif

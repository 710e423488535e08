/* recorder_hit.h - the usual event, recorded inline: nothing is called or mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORDER_HIT_H
#define SEEP_RECORDER_HIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/event/recorder.h"
#include "collector/heap/ledger_hit.h"
#include "collector/heap/blocks_inline.h"
#include "collector/heap/resizing.h"
#include "collector/heap/sample.h"
#include "collector/lifecycle.h"
#include "collector/log/flight.h"
#include "collector/log/log.h"
#include "collector/segment/segment.h"
#include "collector/segment/tick.h"
#include "collector/stack/memo.h"
#include "collector/stack/verify.h"
#include "collector/thread.h"

/*
 * Where the events of a thread go besides the counters. Each sink has a state of
 * the thread, so that a thread without a log is not slowed down, and functions
 * that get it as a constant. log.c changes THREAD_LOGGING to THREAD_LOSING and
 * back: a thread in LOSING has `loses` set, but one with `loses` may also be in
 * LOGGING, where its events find no room and take a slower path.
 */
enum sink {
	SINK_NONE,
	SINK_LOG,
	SINK_LOST, /* the log has no chunk: events are counted as lost */
	SINK_FLIGHT,
};

/* The state of a thread between two events. */
SEEP_INLINE uint32_t recorder_state(const enum sink sink)
{
	return sink == SINK_NONE ? THREAD_READY
	    : sink == SINK_LOG   ? THREAD_LOGGING
	    : sink == SINK_LOST  ? THREAD_LOSING
	                         : THREAD_FLYING;
}

SEEP_INLINE bool recorder_is_ready(const struct gate *g)
{
	return likely(g && g->state == THREAD_READY);
}

/* Is the thread between two events, and records them into rows of its own? */
SEEP_INLINE bool recorder_is_own(const struct gate *g)
{
	const uint32_t state = g ? thread_home(LOAD(&g->state)) : 0;

	return state == THREAD_READY || state == THREAD_LOGGING || state == THREAD_FLYING;
}

/* ---- allocations ---------------------------------------------------------- */

/*
 * Records an allocation of a known site if nothing has to be opened, enlarged or
 * renewed. The thread is busy, and stays so. If it returns false, nothing was
 * recorded. What differs is loaded last, so that no register is saved.
 */
SEEP_INLINE bool recorder_book(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, uint32_t site, const enum sink sink)
{
	const bool is_named = sink == SINK_LOG || sink == SINK_LOST;
	uint64_t word, *cell;
	struct seg_row *row;
	uint32_t tick = 0;

	if (sink == SINK_FLIGHT &&
	    (unlikely(size >= LOG_LARGE) || unlikely(!flight_has_room(t, tick_now()))))
		return false;
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
	if (!is_named)
		tick = tick_now();
	if (ledger_size_is_new(row, size) || (is_named && unlikely(size >= LOG_LARGE)))
		return false;
	if (is_named) {
		cell = blocks_vacant(&t->leaves, (uint64_t)(uintptr_t)p, size);
		if (unlikely(!cell) || (sink == SINK_LOG && unlikely(!log_has_room(t))))
			return false;
		blocks_store(cell, (uint64_t)(uintptr_t)p, site, size,
		    sink == SINK_LOST ? t->log.lost_name : t->log.next);
		if (sink == SINK_LOST)
			log_lose(t, 1);
		else
			log_put(t, log_alloc_word(site, size));
		tick = tick_now();
	} else if (unlikely(
	               !blocks_put_fast(&t->leaves, (uint64_t)(uintptr_t)p, site, size, tick))) {
		return false;
	}
	ledger_count_alloc(t, row, size, tick);
	if (sink == SINK_FLIGHT)
		flight_put(t, flight_alloc_word(site, size), (uint64_t)(uintptr_t)p);
	return true;
}

/* The same if the memo has the stack at the first place; the thread has no sink. */
SEEP_INLINE bool recorder_alloc_hit(
    struct thread *t, const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	uint32_t site;

	return likely(memo_first(t, c, memo_key(c, api), &site)) &&
	    recorder_book(t, p, size, c, site, SINK_NONE);
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

/* After recorder_book(): must recorder_after() be called? */
SEEP_INLINE bool recorder_is_due(struct thread *t)
{
	return unlikely(--t->pace.countdown == 0) || ledger_is_high(t);
}

/* After recorder_book(), in a hook that has more to do. */
SEEP_INLINE void recorder_leave(struct gate *g, struct thread *t)
{
	if (recorder_is_due(t))
		recorder_after(NULL);
	else
		thread_leave(g);
}

/* ---- frees, in three steps ------------------------------------------------ */

/*
 * First: finds the block, and its row. NULL: recorder_free_ready() has to do it,
 * and so it has to if a log has no room for a word, which is looked at as late as
 * possible: one register more, and the hook would have to save it.
 */
SEEP_INLINE struct seg_row *recorder_find(
    struct thread *t, const void *p, struct blocks_found *ret, const enum sink sink)
{
	struct seg_row *row;

	if (sink == SINK_FLIGHT && unlikely(!flight_has_room(t, tick_now())))
		return NULL;
	*ret = blocks_find(&t->leaves, (uint64_t)(uintptr_t)p);
	if (sink == SINK_LOG) {
		/* the name first: then the cell needs no register any more */
		if (unlikely(!ret->block.site) || unlikely(!log_is_named(ret->block.birth)))
			return NULL;
		return ledger_settled(t, ret->block.site);
	}
	row = likely(ret->block.site) ? ledger_settled(t, ret->block.site) : NULL;
	if (sink == SINK_FLIGHT && unlikely(row && ret->block.size >= FLIGHT_FREED_LARGE))
		return NULL;
	return row;
}

/*
 * Second: counts the age. Most blocks die in the tick in which they were born,
 * and for these this comparison is all that ages cost. Most blocks of a log are
 * of a chunk that was opened in this tick; all that were lost in this tick have
 * the same name.
 */
SEEP_INLINE bool recorder_has_aged(
    const struct thread *t, const struct blocks_found *f, const enum sink sink)
{
	if (sink == SINK_LOG)
		return unlikely(f->block.birth < t->log.fresh);
	if (sink == SINK_LOST)
		return unlikely(f->block.birth != t->log.lost_name);
	return unlikely(tick_now() != f->block.birth);
}

/* False: nothing was counted. */
SEEP_INLINE bool recorder_age(
    const struct thread *t, const struct blocks_found *f, const enum sink sink)
{
	uint32_t tick = tick_now(), age;

	if (sink == SINK_LOG || sink == SINK_LOST) {
		const struct log_birth *b = log_birth_entry(f->block.birth);

		if (b->first == tick)
			return true;
		age = tick - log_birth_tick(b, f->block.birth);
		return !age || ledger_age_fast(t, f->block.site, age);
	}
	return ledger_age_fast(t, f->block.site, tick - f->block.birth);
}

/* Third: removes the block from the live map and counts the free. */
SEEP_INLINE void recorder_drop(struct thread *t, const void *p, const struct blocks_found *f,
    struct seg_row *row, uint32_t age, const enum sink sink)
{
	if (sink == SINK_LOG)
		log_put(t, log_free_word(f->block.birth));
	else if (sink == SINK_LOST)
		log_lose(t, 1);
	else if (sink == SINK_FLIGHT)
		flight_put(t, flight_free_word(f->block.site, flight_age_code(age), f->block.size),
		    (uint64_t)(uintptr_t)p);
	blocks_drop(f);
	ledger_count_free(t, row, f->block.size);
}

/* ---- realloc -------------------------------------------------------------- */

/*
 * Records a realloc that has succeeded, whose block had a cell. The thread is busy,
 * and stays so. If it returns false, nothing was recorded.
 */
SEEP_INLINE bool recorder_resize_hit(struct thread *t, const void *old, struct block_entry b,
    const void *p, uint64_t size, const struct cpu_frame *c, uint32_t site, const enum sink sink)
{
	const uint64_t word = LOAD(&ledger_word);
	const uint32_t tick = tick_now();
	struct seg_row *was, *row;

	verify_site((struct site_id){site}, c);
	/* without a name it would be a free and an allocation in the log */
	if (sink == SINK_LOG &&
	    (!log_is_named(b.birth) || t->log.next + 1 >= t->log.limit || size >= LOG_LARGE))
		return false;
	/* two entries, and nothing to be noted before them */
	if (sink == SINK_FLIGHT &&
	    (!flight_has_room(t, tick) || t->flight.at + 2 >= t->flight.end || size >= LOG_LARGE ||
	        b.size >= FLIGHT_FREED_LARGE))
		return false;
	if (unlikely(word != t->ledger.seen || LOAD(lifecycle_command) != lifecycle_obeyed))
		return false;
	was = ledger_settled(t, b.site);
	row = ledger_open_row(t, site);
	if (unlikely(!was || !row))
		return false;
	ledger_touch(row, word);
	if (ledger_size_is_new(row, size) ||
	    !blocks_put_fast(&t->leaves, (uint64_t)(uintptr_t)p, site, size, b.birth))
		return false;
	if (sink == SINK_LOST) {
		log_lose(t, 2);
	} else if (sink == SINK_LOG) {
		uint64_t *at = log_word_of(t, t->log.next);

		STORE_RELEASE(&at[1], log_alloc_word(site, size));
		STORE_RELEASE(
		    &at[0], log_word(LOG_REALLOC, log_realloc_payload(b.birth, log_next_stamp())));
		t->log.next += 2;
	}
	ledger_count_free(t, was, b.size);
	ledger_count_alloc(t, row, size, tick);
	if (sink == SINK_FLIGHT) {
		t->flight.when |= FLIGHT_RESIZED;
		flight_put(t, flight_free_word(b.site, flight_age_code(tick - b.birth), b.size),
		    (uint64_t)(uintptr_t)old);
		flight_put(t, flight_alloc_word(site, size), (uint64_t)(uintptr_t)p);
		t->flight.when &= ~FLIGHT_RESIZED;
	}
	return true;
}

/* ---- events that are not recorded: dormant, off, between samples ----------- */

/*
 * Inline, so that a thread that records nothing pays for a few loads. If a
 * function returns false, the event may have to be recorded, and the hook goes
 * on.
 */

/*
 * An allocation of a thread that is dormant or off. False if the command word
 * has changed.
 */
SEEP_INLINE bool recorder_passes(struct gate *g)
{
	if (unlikely(LOAD(lifecycle_command) != lifecycle_obeyed))
		return false;
	if (unlikely(cpu_add_goes_round(&g->passed, 256 / 64)))
		segment_count(SEG_EVENTS_OFF, 64);
	return true;
}

/* Sampling: does no sample point fall into the next `size` bytes? */
SEEP_INLINE bool recorder_misses(struct gate *g, uint64_t size)
{
	return likely(!cpu_spend(&g->left, size) && LOAD(lifecycle_command) == lifecycle_obeyed);
}

/* An allocation of a thread that is sampling, dormant or off. */
SEEP_INLINE bool recorder_looks_away(struct gate *g, uint64_t size)
{
	const uint32_t state = LOAD(&g->state);

	if (state == THREAD_SAMPLING)
		return recorder_misses(g, size);
	if (state == THREAD_DORMANT || state == THREAD_OFF)
		return recorder_passes(g);
	return false;
}

/* A realloc of such a thread, if the old block is not recorded either. */
SEEP_INLINE bool recorder_looks_away_again(struct gate *g, const void *old, uint64_t size)
{
	if (g->state == THREAD_DORMANT)
		return recorder_passes(g);
	if (g->state != THREAD_SAMPLING || sample_maybe(old))
		return false;
	if (!size || recorder_misses(g, size))
		return true;
	g->left += (int64_t)size; /* recorder_resize() subtracts it again */
	return false;
}

/* ---- a hook of any function ------------------------------------------------ */

/* Records an allocation, after the real function has returned p. */
SEEP_INLINE void recorder_allocated(
    const void *p, uint64_t size, const struct cpu_frame *c, enum seg_api api)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;

	if (unlikely(!p))
		return;
	if (likely(recorder_is_ready(g))) {
		thread_enter(g);
		if (unlikely(!recorder_alloc_hit(t, p, size, c, api)))
			recorder_alloc_ready(t, p, size, c, api);
		else
			recorder_leave(g, t);
	} else if (g && recorder_looks_away(g, size)) {
		return;
	} else if (g && g->state == THREAD_SAMPLING) {
		recorder_sample(g, p, size, c, api, RECORDER_NOW);
	} else {
		recorder_alloc_any(p, size, c, api, RECORDER_NOW);
	}
}

/* Records a free, before the real function is called. */
SEEP_INLINE void recorder_freeing(const void *p, uint64_t pc)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;
	struct blocks_found f;
	struct seg_row *row;

	if (unlikely(!recorder_is_ready(g))) {
		recorder_free_any(p, pc);
		return;
	}
	thread_enter(g);
	/* look at the clock first: this may be the first event after a pause */
	if (likely(--t->pace.countdown)) {
		row = recorder_find(t, p, &f, SINK_NONE);
		if (likely(row) &&
		    (likely(!recorder_has_aged(t, &f, SINK_NONE)) ||
		        recorder_age(t, &f, SINK_NONE))) {
			recorder_drop(t, p, &f, row, 0, SINK_NONE);
			thread_leave(g);
			return;
		}
	}
	recorder_free_ready(p, pc);
}

/*
 * Gives a block another size with `resize`, which returns its new address or
 * NULL. The cell is taken out of the live map before, because another thread
 * may get the old address at once; so that a reader does not miss the block
 * meanwhile, it is in a note.
 */
SEEP_INLINE void *recorder_resizes(void *old, size_t size, const struct cpu_frame *c,
    enum seg_api api, void *(*resize)(void *old, size_t size, size_t extra), size_t extra)
{
	struct gate *g = thread_gate;
	struct thread *t = thread_self;
	struct resizing_note *note = likely(t) ? t->resizing : resizing_note_lend();
	struct block_entry b = {0};
	uint32_t site;
	void *p;

	resizing_begin(note, old);
	if (recorder_is_own(g)) {
		thread_enter(g);
		b = blocks_take(&t->leaves, (uint64_t)(uintptr_t)old);
		thread_leave(g);
	} else if (!sample_filter || sample_maybe(old)) {
		b = blocks_take_slow((uint64_t)(uintptr_t)old);
	}
	resizing_taken(note, b.size);
	p = resize(old, size, extra);
	resizing_moved(note, p, size);
	if (likely(p && b.site && recorder_is_ready(g))) {
		t = thread_self;
		thread_enter(g);
		if (likely(memo_first(t, c, memo_key(c, api), &site)) &&
		    likely(recorder_resize_hit(t, old, b, p, size, c, site, SINK_NONE)))
			recorder_leave(g, t);
		else
			recorder_resize_ready(t, old, b, p, size, c, api);
	} else {
		recorder_resize(old, b, p, size, c, api);
	}
	resizing_end(note);
	return p;
}

#endif

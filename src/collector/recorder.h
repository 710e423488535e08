/* recorder.h - the life of one event from top to bottom; read this first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_RECORDER_H
#define SEEP_COLLECTOR_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "cpu/cpu.h"
#include "collector/ledger.h"
#include "collector/lifecycle.h"
#include "collector/live.h"
#include "collector/memo.h"
#include "collector/sample.h"
#include "collector/thread.h"
#include "collector/tick.h"
#include "collector/verify.h"

/*
 * An allocation: who called (memo), into the live map, into the ledger.
 * A free: out of the live map, into the ledger, before the real free: else
 * another thread could get the address first.
 *
 * Each comes in tiers, from the usual to the rare. A hook begins with the
 * first that can be right, and each hands on what it cannot do itself:
 *
 *   _hit     inline, no call: the thread is READY, the memo knows the stack,
 *            all that has to be written is mapped. Books all, or nothing.
 *   _ready   the thread was READY and is busy now: any stack, any size, the
 *            clock, the peak. Looks the site up once and leaves READY.
 *   _last    the same as a hook's last call: takes what is in registers and
 *            returns what the hook returns.
 *   _any     whatever state the thread is in: its first event, or that of a
 *            forked child; no ledger array of its own; inside of a hook
 *            (signal handlers); recording switched off; sampled.
 */

/* Whatever the thread's state is. `birth` is RECORDER_NOW or a tick. */
#define RECORDER_NOW UINT32_MAX
/* `pc`, here and below: of a free, who has called it; 0: not known. */
void recorder_alloc_any(const void *p, uint64_t size, const struct cpu_frame *c,
    enum seg_api api, uint32_t birth);
void recorder_free_any(const void *p, uint64_t pc);

/* Sampling: this block was hit by a point. The thread is in SAMPLING. */
void recorder_sample(struct gate *g, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth);

/* Sampling: a free of a block that the filter knows. */
void recorder_sampled_free(struct gate *g, const void *p, uint64_t pc);

/* realloc: the cell is taken before the call, booked after it. */
void recorder_realloc_any(const void *old, struct live_block b, const void *p,
    uint64_t size, const struct cpu_frame *c, enum seg_api api);

/*
 * Around dlclose. The loader frees its notes of an object after it has
 * unmapped it and before it lets others load: each free of this thread in
 * between makes modules distrusted, so that no one can be early. Returns what
 * recorder_closed() wants.
 */
struct gate *recorder_closing(void);
void recorder_closed(struct gate *g);

/*
 * The stack of a caller that is no allocation function, as a site of its own.
 * 0: recording is off, or this thread has paused.
 */
struct site_id recorder_stack(const struct cpu_frame *c);

/* One more reason (1) or one less (-1) not to record this thread. */
void recorder_pause(int by);

/* Allocations that passed by unseen: their frees are no riddle. */
void recorder_passed_by(enum seg_count why);

/* The same without a name: also before our own relocation. */
void recorder_unseen(void);

/*
 * One more allocation that is not looked at, by a thread that is dormant or
 * off. False: the command word has changed, take the slow way.
 */
SEEP_INLINE bool
recorder_passes(struct gate *g)
{
	if (unlikely(LOAD(lifecycle_command) != lifecycle_obeyed))
		return false;
	if (unlikely(cpu_add_goes_round(&g->passed, 256 / 64)))
		segment_count(SEG_EVENTS_OFF, 64);
	return true;
}

/* Sampling: does no point fall into the next `size` bytes? */
SEEP_INLINE bool
recorder_misses(struct gate *g, uint64_t size)
{
	return likely(!cpu_spend(&g->left, size) &&
	    LOAD(lifecycle_command) == lifecycle_obeyed);
}

/* An allocation that a sampling, dormant or switched-off thread lets pass. */
SEEP_INLINE bool
recorder_looks_away(struct gate *g, uint64_t size)
{
	const uint32_t state = LOAD(&g->state);

	if (state == THREAD_SAMPLING)
		return recorder_misses(g, size);
	if (state == THREAD_DORMANT || state == THREAD_OFF)
		return recorder_passes(g);
	return false;
}

/* Likewise for realloc: the old block was not looked at either. */
SEEP_INLINE bool
recorder_looks_away_again(struct gate *g, const void *old, uint64_t size)
{
	if (g->state == THREAD_DORMANT)
		return recorder_passes(g);
	if (g->state != THREAD_SAMPLING || sample_maybe(old))
		return false;
	if (!size || recorder_misses(g, size))
		return true;
	g->left += (int64_t)size; /* the slow way draws it again */
	return false;
}

SEEP_INLINE bool
recorder_is_ready(const struct gate *g)
{
	return likely(g && g->state == THREAD_READY);
}

/* The second half of recorder_alloc_hit(): the site is known. */
SEEP_INLINE bool
recorder_book_hit(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, uint32_t site, uint32_t birth)
{
	struct seg_row *row;
	uint64_t word;
	uint32_t tick;

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
	tick = tick_now();
	if (ledger_size_is_new(row, size) ||
	    unlikely(!live_put_fast(&t->live, (uint64_t)(uintptr_t)p, site,
	        size, birth == RECORDER_NOW ? tick : birth)))
		return false;
	ledger_count_alloc(t, row, size, tick);
	return true;
}

/*
 * An allocation where nothing has to be opened, grown, renewed or looked up
 * beyond the memo: no call, and nothing is booked before it is sure. The
 * thread is busy. False: the next tier does it.
 */
SEEP_INLINE bool
recorder_alloc_hit(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	const struct memo_chunk *e = memo_first(t, c, memo_key(c, api));

	return likely(e && memo_holds(t, e)) &&
	    recorder_book_hit(t, p, size, c, e->site, birth);
}

/* After recorder_alloc_hit(): true if recorder_after() is due. */
SEEP_INLINE bool
recorder_is_due(struct thread *t)
{
	return unlikely(--t->countdown == 0) || ledger_is_high(t);
}

/* Likewise, a free in three steps. First: its block and its row, or NULL. */
SEEP_INLINE struct seg_row *
recorder_find(struct thread *t, const void *p, struct live_found *ret)
{
	*ret = live_find(&t->live, (uint64_t)(uintptr_t)p);
	return likely(ret->block.site) ? ledger_settled(t, ret->block.site)
	                               : NULL;
}

/*
 * Second, unless the block dies in the tick of its birth, as most do: all that
 * counting ages costs those is this comparison.
 */
SEEP_INLINE bool
recorder_has_aged(const struct live_found *f)
{
	return unlikely(tick_now() != f->block.birth);
}

SEEP_INLINE bool
recorder_age(const struct thread *t, const struct live_found *f)
{
	return ledger_age_fast(t, f->block.site, tick_now() - f->block.birth);
}

/* Third. */
SEEP_INLINE void
recorder_drop(struct thread *t, const struct live_found *f, struct seg_row *row)
{
	live_drop(f);
	ledger_count_free(t, row, f->block.size);
}

/* `pc`, `sp`, `fp` are the caller's. */
void *recorder_alloc_last(void *p, uint64_t size, uint64_t pc, uint64_t sp,
    uint64_t fp, enum seg_api api);
void recorder_alloc_ready(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth);
void recorder_free_ready(const void *p, uint64_t pc);
void *recorder_after(void *p);

/* After recorder_alloc_hit(), where the hook goes on. */
SEEP_INLINE void
recorder_leave(struct gate *g, struct thread *t)
{
	if (recorder_is_due(t))
		recorder_after(NULL);
	else
		thread_leave(g);
}

/* b is what stood at the old address. False: nothing has been booked. */
SEEP_INLINE bool
recorder_realloc_hit(struct gate *g, struct thread *t, struct live_block b,
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

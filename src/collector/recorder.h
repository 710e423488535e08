/* recorder.h - the life of one event from top to bottom; read this first. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_RECORDER_H
#define SEEP_COLLECTOR_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu.h"
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
 * The inline functions below are for a thread that is READY. Everything else
 * goes to the _slow ones: first event of a thread or of a forked child,
 * threads without a ledger array, events inside a hook (signal handlers),
 * recording switched off.
 */

/* Whatever the thread's state is. `birth` is RECORDER_NOW or a tick. */
#define RECORDER_NOW UINT32_MAX
void recorder_alloc_slow(const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth);
void recorder_free_slow(const void *p);

/* Sampling: this block was hit by a point. The thread is in SAMPLING. */
void recorder_sample(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth);

/* Sampling: a free of a block that the filter knows. */
void recorder_sampled_free(struct thread *t, const void *p);

/*
 * The clock and the control word, every few events. Thread is busy. False:
 * recording has just been switched off, the event passes by.
 */
bool recorder_tick(struct thread *t);

/* Things that do not happen in a healthy run; the thread is busy. */
void recorder_missed(struct thread *t, struct live_block old);
void recorder_not_booked(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth);
void recorder_odd_free(struct thread *t, const void *p, struct live_block b);

/* realloc: the cell is taken before the call, booked after it. */
void recorder_realloc_done(const void *old, struct live_block b, const void *p,
    uint64_t size, const struct cpu_frame *c, enum seg_api api);

/*
 * Around dlclose. The loader frees its notes of an object after it has
 * unmapped it and before it lets others load: each free of this thread in
 * between makes modules distrusted, so that no one can be early. Returns what
 * recorder_closed() wants.
 */
struct thread *recorder_closing(void);
void recorder_closed(struct thread *t);

/*
 * The block of the calling thread, made when need be; in a forked child the
 * first call sets that up. NULL: there is none, or we are not running.
 */
struct thread *recorder_thread(void);

/* One more reason (1) or one less (-1) not to record this thread. */
void recorder_pause(int by);

/* Allocations that passed by unseen: their frees are no riddle. */
void recorder_passed_by(enum seg_count why);

/*
 * One more allocation that is not looked at, by a thread that is dormant or
 * off. False: the command word has changed, take the slow way.
 */
SEEP_INLINE bool
recorder_passes(struct thread *t)
{
	if (unlikely(LOAD(lifecycle_command) != lifecycle_obeyed))
		return false;
	if (unlikely((++t->passed & 63) == 0))
		segment_count(SEG_EVENTS_OFF, 64);
	return true;
}

/* Sampling: does no point fall into the next `size` bytes? */
SEEP_INLINE bool
recorder_misses(struct thread *t, uint64_t size)
{
	t->left -= (int64_t)(size ? size : 1);
	return likely(
	    t->left >= 0 && LOAD(lifecycle_command) == lifecycle_obeyed);
}

/* An allocation that a sampling, dormant or switched-off thread lets pass. */
SEEP_INLINE bool
recorder_looks_away(struct thread *t, uint64_t size)
{
	if (t->state == THREAD_SAMPLING)
		return recorder_misses(t, size);
	if (t->state == THREAD_DORMANT || t->state == THREAD_OFF)
		return recorder_passes(t);
	return false;
}

SEEP_INLINE bool
recorder_is_ready(const struct thread *t)
{
	return likely(t && t->state == THREAD_READY);
}

SEEP_INLINE void
recorder_alloc(struct thread *t, const void *p, uint64_t size,
    const struct cpu_frame *c, enum seg_api api, uint32_t birth)
{
	const uint64_t address = (uint64_t)(uintptr_t)p;
	struct live_block old;
	struct site_id s;

	thread_enter(t);
	s = memo_site(t, c, api);
	verify_site(s, c);
	if (unlikely(--t->countdown == 0 ||
	        LOAD(lifecycle_command) != lifecycle_obeyed) &&
	    !recorder_tick(t)) {
		recorder_passed_by(SEG_EVENTS_OFF);
		thread_leave(t);
		return;
	}
	if (birth == RECORDER_NOW)
		birth = tick_now();
	if (unlikely(!live_put(&t->live, address, s.v, size, birth, &old) ||
	        !ledger_alloc(t, s.v, size)))
		recorder_not_booked(t, p, size, c, api, birth);
	if (unlikely(old.site))
		recorder_missed(t, old);
	thread_leave(t);
}

SEEP_INLINE void
recorder_free(struct thread *t, const void *p)
{
	struct live_block b;
	uint32_t age;

	thread_enter(t);
	b = live_take(&t->live, (uint64_t)(uintptr_t)p);
	age = tick_now() - b.birth;
	if (unlikely(!b.site || !ledger_free(t, b.site, b.size)))
		recorder_odd_free(t, p, b);
	else if (unlikely(age >= SEG_YOUNG_TICKS))
		ledger_age(b.site, age);
	if (unlikely(--t->countdown == 0))
		recorder_tick(t);
	thread_leave(t);
}

#endif

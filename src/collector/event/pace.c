/* pace.c - how often a thread looks at the clock and the command word. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/pace.h"

#include "collector/heap/ledger_hit.h"
#include "collector/lifecycle.h"
#include "collector/heap/blocks.h"
#include "collector/segment/tick.h"

enum {
	PAUSE_NS = 50000000,
	LONG_NS = 12500000, /* an eighth of a tick */
	PERIOD_MAX = 64,
	PATIENCE = 64, /* looks at the clock before the period doubles */
};

bool pace_follow_mode(struct gate *g)
{
	if (lifecycle_is_on())
		return true;
	g->resting = THREAD_OFF;
	STORE(&g->state, THREAD_OFF + 1); /* thread_leave() takes one off */
	return false;
}

/*
 * How many events may pass until this thread looks at the clock again. The age
 * of a block is taken from the tick that its thread has seen last, and the
 * first events after a pause still have the tick from before it. So a thread
 * that has paused looks at each event at first, and doubles its period slowly:
 * by its n-th event it looks every n / 64 events. That is 384 looks after a
 * pause of 50 ms or more, and takes a few microseconds.
 */
static void set_period(struct thread *t, uint64_t ns)
{
	uint64_t since_ns = ns - t->pace.clock_ns;

	if (since_ns > PAUSE_NS) {
		t->pace.period = 1;
		t->pace.looks = 0;
		t->pace.has_paused = t->pace.clock_ns != 0;
	} else if (since_ns > LONG_NS) {
		t->pace.period = t->pace.period > 1 ? t->pace.period / 2 : 1;
		t->pace.looks = 0;
	} else if (t->pace.period < PERIOD_MAX &&
	    (!t->pace.has_paused || ++t->pace.looks == PATIENCE)) {
		t->pace.period *= 2;
		t->pace.looks = 0;
	}
	t->pace.clock_ns = ns;
	t->pace.countdown = t->pace.period;
	if (t->pace.period == 1)
		ledger_saw(t, t->ledger.seen);
	/*
	 * A loop of as many events would bring the same free here each time,
	 * although the frees that look at the clock are a sample of all frees
	 * (ledger_freed_by).
	 */
	if (t->pace.period == PERIOD_MAX) {
		t->pace.jitter = t->pace.jitter * 1664525 + 1013904223;
		t->pace.countdown -= t->pace.jitter >> 31; /* by one, or not */
	}
}

void pace_begin(struct thread *t)
{
	t->pace.period = 1;
	t->pace.countdown = 1;
}

void pace_forget(struct thread *t)
{
	t->pace.clock_ns = 0;
	t->pace.looks = 0;
	t->pace.has_paused = 0;
}

bool pace_look(struct thread *t)
{
	set_period(t, tick_read());
	lifecycle_poll();
	blocks_look_ahead(0, 0);
	if (LOAD(&lifecycle_is_early))
		t->pace.countdown = 1; /* to note the sums after each event */
	return pace_follow_mode(thread_gate);
}

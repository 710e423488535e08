/* way.c - in which way an event of the calling thread can be recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/way.h"

#include "collector/lifecycle.h"
#include "collector/process/early.h"
#include "collector/heap/sample.h"

enum { HELD_SPINS = 1 << 22 };

/* The way of a thread between two events. */
static enum way way_at_rest(const struct gate *g)
{
	switch (LOAD(&g->resting)) {
	case THREAD_READY:
	case THREAD_LOGGING:
	case THREAD_FLYING:
		return WAY_READY;
	case THREAD_SHARED:
		return WAY_SHARED;
	case THREAD_SAMPLING:
		return WAY_SAMPLED;
	case THREAD_PAUSED:
		return WAY_PAUSED;
	case THREAD_BARE:
	case THREAD_CROWDED:
		return WAY_CROWDED;
	default:
		return WAY_NONE;
	}
}

/* A thread's first event, or the next try of one that found no room. */
static struct gate *arrive(void)
{
	early_new_thread();
	thread_arrive();
	thread_make_ready(lifecycle_mode());
	return thread_gate;
}

static enum way way_by_state(struct gate *g)
{
	int i;

	/* a forked child is moving to its own segment: see early.c */
	for (i = 0; i < HELD_SPINS && LOAD_ACQUIRE(&g->state) == THREAD_HELD; i++)
		cpu_pause();
	switch (LOAD_ACQUIRE(&g->state)) {
	case THREAD_READY:
	case THREAD_LOGGING:
	case THREAD_LOSING:
	case THREAD_FLYING:
	case THREAD_SHARED:
	case THREAD_SAMPLING:
	case THREAD_PAUSED:
	case THREAD_PAUSED + 1: /* a handler paused it inside a hook */
		return way_at_rest(g);
	case THREAD_BUSY:
	case THREAD_LOGGING_BUSY:
	case THREAD_LOSING_BUSY:
	case THREAD_FLYING_BUSY:
	case THREAD_SHARED_BUSY:
	case THREAD_OFF + 1:
	case THREAD_CLOSING:
		return sample_rate() ? WAY_IGNORED : WAY_NESTED;
	case THREAD_SAMPLING_BUSY:
		return WAY_IGNORED;
	case THREAD_CROWDED:
		if (!thread_may_retry())
			return WAY_CROWDED;
		return way_at_rest(arrive());
	case THREAD_BARE:
		if (!lifecycle_poll() || thread_may_retry())
			break;
		return WAY_CROWDED;
	case THREAD_OFF:
	case THREAD_DORMANT:
		if (!lifecycle_poll())
			return WAY_NONE;
		break;
	default:
		/*
		 * Another thread has set the process up after the fork that
		 * wiped this gate, or a hook that was under way at the fork
		 * has changed the wiped word.
		 */
		if (!thread_rejoin())
			return WAY_NESTED;
		break;
	}
	thread_make_ready(lifecycle_mode());
	return way_at_rest(g);
}

enum way way_in(struct thread **ret_t)
{
	enum way way;

	if (!lifecycle_running())
		return WAY_NONE;
	if (!thread_gate)
		arrive();
	way = way_by_state(thread_gate);
	*ret_t = thread_self;
	return way;
}

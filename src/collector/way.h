/* way.h - in which way an event of the calling thread can be recorded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WAY_H
#define SEEP_WAY_H

#include "collector/thread.h"

/* In which way an event can be recorded. */
enum way {
	WAY_NONE,   /* not at all: not started, inert or off */
	WAY_READY,  /* by a thread with a ledger array of its own */
	WAY_SHARED, /* with a memo, but in an array that others write too */
	WAY_NESTED, /* inside a hook, or without a thread block */
	WAY_SAMPLED,
	WAY_IGNORED, /* inside a sample, whose points are elsewhere */
	WAY_PAUSED,  /* because the host called seep_pause() */
	WAY_CROWDED, /* this thread has no block: the event is counted */
};

/*
 * Looks at the state of the process and of the thread, and first gives the
 * thread what it lacks: a gate, a block, a segment in a forked child. *ret_t is
 * the thread's block or NULL; WAY_READY and WAY_SHARED have one. A signal
 * handler may call it at any time.
 */
enum way way_in(struct thread **ret_t);

#endif

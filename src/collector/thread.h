/* thread.h - the gate and the block of one thread, and who owns which. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_THREAD_H
#define SEEP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/thread_types.h"
#include "format/format.h"

/*
 * A thread has a gate from its first event on, and a block if it records:
 *
 *   thread_gate, thread_self          both, of the calling thread
 *   thread_enter, thread_leave        around the work of a hook
 *   thread_arrive, thread_attach      give the caller a gate, a block
 *   thread_make_ready                 chooses the state for a mode
 *   thread_hold_others                keeps all other threads out of hooks
 *   thread_restart, thread_rejoin     in a forked child
 *
 * Gates and blocks of dead threads go to later threads (owner.h).
 */

/*
 * initial-exec, because the default TLS model may call malloc on a thread's
 * first access, and we are malloc. The only thread-local variables we have. A
 * gate whose state is READY or SHARED goes with a block; the others may lack
 * one.
 */
extern _Thread_local struct gate *thread_gate __attribute__((tls_model("initial-exec")));
extern _Thread_local struct thread *thread_self __attribute__((tls_model("initial-exec")));

SEEP_INLINE void thread_enter(struct gate *g)
{
	cpu_add_local(&g->state, 1);
}

SEEP_INLINE void thread_leave(struct gate *g)
{
	cpu_add_local(&g->state, -1);
}

/*
 * The block of a gate that is READY. A signal handler may fork at any moment,
 * and the child's copy of the gate is wiped. So read the block first: if the
 * state is READY after that, the block is the right one.
 */
SEEP_INLINE struct thread *thread_block(const struct gate *g)
{
	struct thread *t = LOAD(&g->block);

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return t;
}

/* As in gate.resting: a thread that loses its events is one that logs. */
SEEP_INLINE uint32_t thread_home(uint32_t state)
{
	return (state & ~1u) == THREAD_LOSING ? state - THREAD_LOSING + THREAD_LOGGING : state;
}

/*
 * Gives the calling thread its gate. That is the gate of a dead thread whose
 * TLS was at the same address, with its block, or another one. If there is no
 * memory, it is a gate that all such threads share, which stays CROWDED. On the
 * way this looks for dead threads and takes back what they had.
 */
struct gate *thread_arrive(void);

/*
 * Gives the calling thread a block if it has none: the block of a dead thread,
 * or a new one. NULL: there is no memory.
 */
struct thread *thread_attach(void);

/*
 * By a busy thread after a sample. If many threads have a block, a thread that
 * needs one only now and then gives it back.
 */
void thread_lend(void);

/* By owner.c: this block has no owner any more. */
void thread_give_back(struct thread *t);

/* Is it time to ask again for memory that was not there? True now and then. */
bool thread_may_retry(void);

/*
 * Call it before a realloc of the caller's cpu_dtv_block() takes the block's
 * cell, because a missing cell would be a sign that the thread is dead.
 */
void thread_forget_dtv(void);

/* Forgets memo and outer frames. */
void thread_drop_caches(struct thread *t);

/* In a forked child: the caller is the only thread, if it had a gate before. */
void thread_restart(void);

/*
 * By the thread that forked, if another thread has set the child up. Its gate
 * and block are still the parent's, and become the child's. False: no memory.
 */
bool thread_rejoin(void);

/* All blocks of this process, dead threads' too: the first one, then ->next. */
struct thread *thread_first(void);

/* Has any thread of this process a gate yet? */
bool thread_any(void);

/*
 * Sets the state of the caller's gate as the mode asks, and gives it a block if
 * that state needs one. The state is BARE if there is no memory for a block.
 */
void thread_make_ready(enum seg_mode mode);

/*
 * The same for a caller that may be inside a hook, which leaves to that state.
 */
void thread_change_home(enum seg_mode mode);

/*
 * Keeps all other threads out of their hooks for a few microseconds, and waits
 * for those that are inside, for a bounded time. False: a thread did not come
 * out, and no thread is held.
 */
bool thread_hold_others(void);
void thread_release_others(void);

/*
 * With `slow` all threads take the slow path, because a forked child in its
 * first events writes their sums down after each event. Call
 * thread_make_ready(), thread_change_home() or thread_release_others()
 * afterwards.
 */
void thread_slow_down(bool slow);

/* Before the first thread_arrive(). */
void thread_init(bool wipe_on_fork, bool can_probe);

/*
 * In a forked child: the tid that glibc gave to the thread that forked, 0 if
 * it gave none (raw clone) or it cannot be found. Before thread_restart().
 */
uint32_t thread_renewed_tid(void);

#endif

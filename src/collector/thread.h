/* thread.h - the gate and the block of one thread, and who owns which. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_THREAD_H
#define SEEP_COLLECTOR_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "cpu/cpu.h"
#include "collector/live.h"
#include "collector/memo_types.h"
#include "collector/segment.h"
#include "trace/format.h"

/*
 * gate.state is tested once at the entry of every hook. READY is the fast path,
 * and every other value takes the slow one. Busy is READY + 1 (SHARED + 1), set
 * by a single add instruction. A value that is not named here means that a fork
 * has wiped the word, and perhaps that a hook which was under way at the fork
 * has changed it since.
 */
enum thread_state {
	THREAD_WIPED = 0,
	THREAD_READY = 0x5ee90000,
	THREAD_BUSY = 0x5ee90001,
	THREAD_SHARED = 0x5ee90100, /* has no ledger array of its own */
	THREAD_SHARED_BUSY = 0x5ee90101,
	THREAD_OFF = 0x5ee90200,  /* recording is off, or has never been on */
	THREAD_HELD = 0x5ee90300, /* asked to stay out for a moment */
	THREAD_CLOSING = 0x5ee90400, /* inside dlclose */
	THREAD_DORMANT = 0x5ee90500, /* off, and has never been on */
	THREAD_SAMPLING = 0x5ee90600,
	THREAD_SAMPLING_BUSY = 0x5ee90601,
	THREAD_PAUSED = 0x5ee90700,  /* seep_pause() */
	THREAD_BARE = 0x5ee90800,    /* there was no memory for a block */
	THREAD_CROWDED = 0x5ee90900, /* there was not even a gate */
	THREAD_RETIRED = 0x5ee90a00, /* its block has gone to another thread */
};

enum { THREAD_SCRATCHES = 3 }; /* for nested events, see recorder.c */

/*
 * A gate is what a hook looks at first. Gates are in pages that a fork wipes
 * (MADV_WIPEONFORK), many of them in one mapping, because a mapping for each
 * thread would use up those that the kernel allows a process (max_map_count).
 * Beside the state a gate has only the fields of a thread that does not record,
 * and those that thread_make_ready() renews. A thread has a gate from its first
 * event on, and a block if it records.
 */
struct gate {
	uint32_t state;
	uint8_t passed; /* allocations that were not looked at, times four */
	uint8_t pad8[3];
	int64_t left; /* sampling: bytes to the next point */
	/* thread_self, for hooks; read it before the state is tested */
	struct thread *block;
	uint64_t rng;
	struct owner *owner; /* owner.h */
	uint32_t resting;    /* the state of this thread between events */
	uint32_t pad32;
	struct gate *next; /* of those without an owner */
} __attribute__((
    aligned(128))); /* two cache lines, because CPUs fetch them in pairs */

struct thread {
	/* hot */
	uint8_t **rows; /* chunks of our ledger array */
	uint32_t first_id;
	uint32_t countdown; /* events until the clock is read */
	int64_t *net;       /* live bytes of our array, published */
	int64_t high;       /* a net above it asks for a look at the peak */
	uint64_t seen;      /* ledger word at the last check */
	struct memo_chunk *memo;
	uint32_t memo_mask; /* of an offset in bytes to a chunk */
	uint32_t outer_count;
	uint64_t outer_version; /* changes before outer[] and check[] do */
	uint8_t **ages;         /* chunks of its ages; NULL: none yet */
	uint32_t outer_gen;
	uint32_t memo_misses;
	uint32_t outer_truncated; /* outer[] holds the innermost part only */
	uint32_t paths_last;      /* see paths.h: the last stack by chunks */
	uint32_t paths_count;
	int32_t paths_credit;
	uint32_t paths_seen[PATHS_SEEN];

	struct gate *gate; /* of its owner; NULL: it has none */

	/* the parts of these two that most events use are in our first page */
	struct live_cache live;
	/* the first OUTER_CHECK_PAD of them always hold */
	struct outer_check check[OUTER_CHECK_PAD + OUTER_MAX * 3];

	/* warm */
	uint32_t array;
	uint32_t period;     /* events between two looks at the clock */
	uint32_t looks;      /* since it changed */
	uint32_t has_paused; /* for 50 ms, once */
	uint32_t jitter;     /* of the period: a random number */
	uint64_t clock_ns;
	int64_t own_net; /* of a thread that shares its array */
	/* our own stack, see walk.h; stack_hi is 0 if it is not known */
	uint64_t stack_lo, stack_hi;
	uint64_t stack_floor;     /* stack_lo may fall down to it */
	const void *expect_free;  /* operator delete took it already */
	uint32_t scratch_taken;   /* bits */
	uint32_t process;         /* how many forks were before this one */
	uint32_t counted;         /* slow events under way, see lifecycle.c */
	uint32_t paused;          /* calls of seep_pause() not yet resumed */
	uint64_t paths_sp;        /* where paths_last was found */
	struct thread *next;      /* in the list of all */
	struct thread *next_free; /* of those without an owner */
	uint32_t memo_room;       /* chunks that there is memory for */

	struct outer_frame outer[OUTER_MAX] __attribute__((aligned(64)));
	struct outer_frame walk[OUTER_MAX];
	uint64_t scratch[THREAD_SCRATCHES][OUTER_MAX];
};

/*
 * initial-exec, because the default TLS model may call malloc on a thread's
 * first access, and we are malloc. The only thread-local variables we have. A
 * gate whose state is READY or SHARED goes with a block; the others may lack
 * one.
 */
extern _Thread_local struct gate *thread_gate
    __attribute__((tls_model("initial-exec")));
extern _Thread_local struct thread *thread_self
    __attribute__((tls_model("initial-exec")));

SEEP_INLINE uint32_t
thread_memo_chunks(const struct thread *t)
{
	return t->memo_mask / sizeof(struct memo_chunk) + 1;
}

SEEP_INLINE void
thread_enter(struct gate *g)
{
	cpu_add_local(&g->state, 1);
}

SEEP_INLINE void
thread_leave(struct gate *g)
{
	cpu_add_local(&g->state, -1);
}

/*
 * The block of a gate that is READY. A signal handler may fork at any moment,
 * and the child's copy of the gate is wiped. So read the block first: if the
 * state is READY after that, the block is the right one.
 */
SEEP_INLINE struct thread *
thread_block(const struct gate *g)
{
	struct thread *t = LOAD(&g->block);

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return t;
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

/* Makes the memo larger if the total of all memos allows it. */
void thread_grow_memo(struct thread *t);

/* Before the first thread_arrive(). */
void thread_init(bool wipe_on_fork, bool can_probe);

/*
 * In a forked child: the tid that glibc gave to the thread that forked, 0 if
 * it gave none (raw clone) or it cannot be found. Before thread_restart().
 */
uint32_t thread_renewed_tid(void);

#endif

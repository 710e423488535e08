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
 * gate.state, tested once at the entry of every hook: READY is the fast
 * path, all else the slow one. Busy is READY + 1 (SHARED + 1), set by a
 * single add instruction; any value not named here means that the word was
 * wiped by a fork, or that a hook of before the fork has come back.
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
 * What a hook looks at first. In pages that a fork wipes (MADV_WIPEONFORK),
 * many of them in one mapping: a mapping for each thread would use up those
 * that the kernel allows a process (max_map_count). Beside the state there is
 * only what a thread that looks away needs, and what thread_make_ready()
 * renews. A thread has one from its first event on, a block when it records.
 */
struct gate {
	uint32_t state;
	uint8_t passed; /* allocations that were not looked at, times four */
	uint8_t pad8[3];
	int64_t left; /* sampling: bytes to the next point */
	/* thread_self, for hooks: to be read before the state is tested */
	struct thread *block;
	uint64_t rng;
	struct owner *owner; /* owner.h */
	uint32_t resting;    /* the state of this thread between events */
	uint32_t pad32;
	struct gate *next;       /* of those without an owner */
} __attribute__((aligned(128))); /* two lines: CPUs fetch them in pairs */

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

	/* what most events touch of these two shares our first page */
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
	/* see walk.h: our own stack; stack_hi is 0 as long as it is not known */
	uint64_t stack_lo, stack_hi;
	uint64_t stack_floor;    /* stack_lo may fall down to it */
	const void *expect_free; /* operator delete took it already */
	uint32_t scratch_taken;  /* bits */
	uint32_t process;        /* counts forks: which process it belongs to */
	uint32_t counted;        /* slow events under way, see lifecycle.c */
	uint32_t paused;         /* calls of seep_pause() not yet resumed */
	uint64_t paths_sp;       /* where paths_last was found */
	struct thread *next;     /* in the list of all */
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
 * The block of a gate that is READY. A handler may fork at any moment, and the
 * child's copy of the gate is wiped: so the block is read first, and if the
 * state is READY after that, it was there.
 */
SEEP_INLINE struct thread *
thread_block(const struct gate *g)
{
	struct thread *t = LOAD(&g->block);

	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return t;
}

/*
 * Gives the calling thread its gate: that of a dead thread whose TLS stood at
 * the same address, with its block, or another one. Where none is to be had,
 * it is one that all such threads share, CROWDED for good. On the way it looks
 * for threads that are dead, and takes back what they had.
 */
struct gate *thread_arrive(void);

/*
 * Gives the calling thread a block, if it has none: that of a dead thread, or
 * a new one. NULL: there is no memory.
 */
struct thread *thread_attach(void);

/*
 * After a sample, by the caller while it is busy: where many threads have a
 * block, one that needs it now and then gives it back.
 */
void thread_lend(void);

/* By owner.c: nobody has this block any more. */
void thread_give_back(struct thread *t);

/* Is it time to ask for what could not be had? Now and then. */
bool thread_may_retry(void);

/*
 * Before a realloc of the caller's cpu_dtv_block() takes its cell: that it is
 * gone is no sign of death then.
 */
void thread_forget_dtv(void);

/* Forgets memo and outer frames. */
void thread_drop_caches(struct thread *t);

/* A forked child: the caller is the only thread, if it had a gate before. */
void thread_restart(void);

/*
 * The thread that forked, when another one has set the child up: what it has
 * is still the parent's. Makes it the child's. False: no memory.
 */
bool thread_rejoin(void);

/* Has any thread of this process a gate yet? */
bool thread_any(void);

/*
 * Sets the state of the caller's gate to what the mode asks for, with a block
 * if that needs one. BARE: there is none.
 */
void thread_make_ready(enum seg_mode mode);

/* The same for the caller in the midst of whatever: a hook leaves to it. */
void thread_change_home(enum seg_mode mode);

/*
 * Keeps all other threads out of their hooks, for a few microseconds; waits
 * for those inside, but not for ever. False: somebody did not come out, and
 * nobody is held.
 */
bool thread_hold_others(void);
void thread_release_others(void);

/*
 * From now on threads take the slow way, or no longer: a forked child in its
 * first events writes their sums down after each. To be followed by
 * thread_make_ready(), thread_change_home() or thread_release_others().
 */
void thread_slow_down(bool slow);

/* A larger memo, when misses ask for it and the total allows. */
void thread_grow_memo(struct thread *t);

/* Before the first thread_arrive(). */
void thread_init(bool wipe_on_fork, bool can_probe);

/*
 * In a forked child: the tid that glibc gave to the thread that forked, 0 if
 * it gave none (raw clone) or it cannot be found. Before thread_restart().
 */
uint32_t thread_renewed_tid(void);

#endif

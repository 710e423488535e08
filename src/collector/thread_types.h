/* thread_types.h - the layout of a thread's gate and block; thread.h has the functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_THREAD_TYPES_H
#define SEEP_THREAD_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/memo_types.h"

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
	THREAD_OFF = 0x5ee90200,     /* recording is off, or has never been on */
	THREAD_HELD = 0x5ee90300,    /* asked to stay out for a moment */
	THREAD_CLOSING = 0x5ee90400, /* inside dlclose */
	THREAD_DORMANT = 0x5ee90500, /* off, and has never been on */
	THREAD_SAMPLING = 0x5ee90600,
	THREAD_SAMPLING_BUSY = 0x5ee90601,
	THREAD_PAUSED = 0x5ee90700,  /* seep_pause() */
	THREAD_BARE = 0x5ee90800,    /* there was no memory for a block */
	THREAD_CROWDED = 0x5ee90900, /* there was not even a gate */
	THREAD_RETIRED = 0x5ee90a00, /* its block has gone to another thread */
	THREAD_LOGGING = 0x5ee90b00, /* as READY, with an event log: recorder_hit.h */
	THREAD_LOGGING_BUSY = 0x5ee90b01,
	THREAD_LOSING = 0x5ee90b10, /* the same while its events are lost */
	THREAD_LOSING_BUSY = 0x5ee90b11,
	THREAD_FLYING = 0x5ee90c00, /* with a flight recorder */
	THREAD_FLYING_BUSY = 0x5ee90c01,
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
	/* the state of this thread between events; LOGGING if that is LOSING */
	uint32_t resting;
	uint32_t pad32;
	struct gate *next;       /* of those without an owner */
} __attribute__((aligned(128))); /* two cache lines, because CPUs fetch them in pairs */

/*
 * What each module keeps for a thread. The lint allows `t->log.` in log/ and event/
 * only, and so on: tools/lint/check-owners.sh has the list.
 */

struct log_chunk;

/*
 * heap/live.h: each thread remembers the leaves that it used last. Most of its blocks are in
 * one of them, and then one comparison replaces two loads that depend on each
 * other. Leaves are never moved or unmapped. An entry never has the key of one
 * leaf and the origin of another, not even for a moment, because a signal
 * handler may leave a hook by longjmp.
 */
enum { BLOCKS_CACHE_BITS = 6 };
struct blocks_cache {
	struct blocks_cached {
		uint64_t key; /* blocks_key() of its blocks; 0: unused */
		/* where address 0 would have its cell if this leaf were endless */
		uint64_t origin;
	} at[1 << BLOCKS_CACHE_BITS];
};

/* heap/ledger.h */
struct ledger_thread {
	uint8_t **rows; /* chunks of our ledger array */
	uint32_t first_id;
	uint32_t array;
	int64_t *net;    /* live bytes of our array, published */
	int64_t high;    /* a net above it asks for a look at the peak */
	uint64_t seen;   /* ledger word at the last check, see ledger_saw() */
	uint8_t **ages;  /* chunks of its ages; NULL: none yet */
	int64_t own_net; /* of a thread that shares its array */
	int64_t grant;   /* of the headroom, see ledger.h */
};

/* event/pace.h */
struct pace_thread {
	uint32_t countdown;  /* events until the clock is read */
	uint32_t period;     /* events between two looks at the clock */
	uint32_t looks;      /* since it changed */
	uint32_t has_paused; /* for 50 ms, once */
	uint32_t jitter;     /* of the period: a random number */
	uint64_t clock_ns;
};

/* stack/memo.h */
struct memo_thread {
	struct memo_chunk *entries;
	uint32_t mask; /* of an offset in bytes to a chunk */
	uint32_t misses;
	uint32_t room; /* chunks that there is memory for */
};

/* log/log.h */
struct log_thread {
	uint64_t origin;    /* the address that a word with the name 0 would have */
	uint32_t next;      /* the name of the next word */
	uint32_t limit;     /* from this name on nothing is stored inline */
	uint32_t lost_name; /* of a block whose allocation is lost */
	uint32_t tick;      /* of the next word */
	uint32_t lost;      /* events that are to be counted as lost */
	uint32_t fresh;     /* names from here on are of this tick */
	bool loses;         /* the pool had no chunk for it */
	uint64_t *base;     /* the chunk that it logs into */
	uint64_t time, gap;
	uint64_t until; /* the clock when `time` will have changed */
	uint32_t chunk, number, first, thread;
	uint32_t stop;  /* the name from which on the chunk is full */
	uint32_t clear; /* words before this name are zero or stored */
};

/* log/flight.h */
struct flight_thread {
	uint64_t *at, *end; /* the next entry, and the last one */
	uint64_t when;      /* see flight.c: the time of `at` */
	uint32_t tick;      /* of the next entry */
	uint32_t by;        /* site of the stack that frees, see flight.c */
	uint64_t *base;     /* its ring, or `page` */
	/*
	 * Its ring, by the address and not by `index`: if a signal handler forks inside
	 * of a hook, the hook goes on in the child. Its pool is gone then, but plain memory
	 * has taken the place of the mapping.
	 */
	struct log_chunk *ring;
	uint64_t *page; /* private, while there is no ring */
	uint64_t time;
	uint32_t index, thread;
	bool is_counted; /* as a thread for which there is no ring */
};

/* unwind/walk.h: our own stack */
struct stack_thread {
	uint64_t lo, hi; /* hi is 0 if it is not known */
	uint64_t floor;  /* lo may fall down to it */
};

/* event/recorder.h */
struct record_thread {
	const void *expect_free; /* operator delete took it already */
	uint32_t paused;         /* calls of seep_pause() not yet resumed */
};

/* stack/known.h: the last stack found there, how often in a row */
struct lookup_thread {
	uint64_t sp;
	uint32_t last, same, count, fresh;
	/* stacks in a row of which few frames differ, or that were new */
	uint32_t few;
	uint32_t hits;
	struct turns *cache; /* NULL: not needed so far */
};

/* stack/outer.h: the copy of the last stack */
struct copy_thread {
	uint64_t stamps; /* given out so far */
	uint32_t count, gen;
	uint32_t truncated; /* frame[] holds the innermost part only */
	uint32_t rooted;    /* frame[] ends where a stack should */
	/* the parts of these two that most events use are in our first page */
	uint64_t stamp[1 + OUTER_MAX * 3]; /* see outer_drop() */
	/* the first OUTER_CHECK_PAD of them always hold */
	struct outer_check check[OUTER_CHECK_PAD + OUTER_MAX * 3];
	struct outer_frame frame[OUTER_MAX] __attribute__((aligned(64)));
	uint16_t check_frame[OUTER_MAX * 3]; /* whose step loads this word */
	struct outer_frame walk[OUTER_MAX];
	struct outer_seen seen[1 << OUTER_SEEN_BITS];
	uint64_t listed[OUTER_MAX]; /* frames of a stack, see known.h */
	/* frame k is at OUTER_MAX - 1 - k: innermost first */
	uint64_t words[OUTER_MAX];
};

/* stack/paths.h: the last stack by chunks */
struct coroutine_thread {
	uint32_t last, count;
	int32_t credit;
	uint64_t sp; /* where `last` was found */
	uint32_t seen[PATHS_SEEN];
};

/* event/recorder.c: room for the stacks of nested events */
struct nested_thread {
	uint32_t taken; /* bits */
	uint64_t scratch[THREAD_SCRATCHES][OUTER_MAX];
};

/* Hot things first; what each event of each thread needs is in the first page. */
struct thread {
	struct ledger_thread ledger;
	struct pace_thread pace;
	struct memo_thread memo;
	/* a process has one of these, or none, and never changes that */
	union {
		struct log_thread log;
		struct flight_thread flight;
	};
	struct blocks_cache leaves;
	struct stack_thread stack;
	struct record_thread record;
	struct lookup_thread lookup;
	struct gate *gate;              /* of its owner; NULL: it has none */
	struct resizing_note *resizing; /* moving.h; never NULL */
	struct thread *next;            /* in the list of all */
	struct thread *next_free;       /* of those without an owner */
	uint32_t process;               /* how many forks were before this one */
	uint32_t counted;               /* slow events under way, see lifecycle.c */
	struct copy_thread copy;
	struct coroutine_thread coroutine;
	struct nested_thread nested;
};

#endif

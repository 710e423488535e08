/* thread_types.h - the layout of a thread's gate and block; thread.h has the functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_THREAD_TYPES_H
#define SEEP_THREAD_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/heap/live.h"
#include "collector/stack/memo_types.h"

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
	THREAD_LOGGING = 0x5ee90b00, /* as READY, with an event log: logged.h */
	THREAD_LOGGING_BUSY = 0x5ee90b01,
	THREAD_LOSING = 0x5ee90b10, /* the same while its events are lost */
	THREAD_LOSING_BUSY = 0x5ee90b11,
	THREAD_FLYING = 0x5ee90c00, /* with a flight recorder: flying.h */
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

struct thread {
	/* hot */
	uint8_t **rows; /* chunks of our ledger array */
	uint32_t first_id;
	uint32_t countdown; /* events until the clock is read */
	int64_t *net;       /* live bytes of our array, published */
	int64_t high;       /* a net above it asks for a look at the peak */
	uint64_t seen;      /* ledger word at the last check, see ledger_saw() */
	struct memo_chunk *memo;
	uint32_t memo_mask; /* of an offset in bytes to a chunk */
	uint32_t outer_count;
	uint64_t outer_stamps; /* given out so far */
	uint8_t **ages;        /* chunks of its ages; NULL: none yet */
	uint32_t outer_gen;
	uint32_t memo_misses;
	uint32_t outer_truncated; /* outer[] holds the innermost part only */
	uint32_t paths_last;      /* see paths.h: the last stack by chunks */
	uint32_t paths_count;
	int32_t paths_credit;
	struct gate *gate; /* of its owner; NULL: it has none */

	/*
	 * Of the log: the address that a word with the name 0 would have, the
	 * name of the next word, and from which name on nothing is stored
	 * inline. Of a flight recorder: the next entry, and the last one.
	 */
	union {
		uint64_t log_origin;
		uint64_t *log_at;
	};
	union {
		struct {
			uint32_t log_next, log_limit;
		};
		uint64_t *log_end;
	};
	union {
		uint32_t log_void;    /* the name of a block that is lost */
		uint64_t flight_when; /* see flight.c: the time of log_at */
	};
	uint32_t log_tick;  /* of the next word or entry */
	uint32_t log_lost;  /* events that are to be counted as lost */
	uint32_t log_fresh; /* names from here on are of this tick */
	bool log_loses;     /* the pool had no chunk for it */

	/* the parts of these two that most events use are in our first page */
	struct live_cache live;
	uint64_t stamp[1 + OUTER_MAX * 3]; /* see outer_drop() */
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
	int64_t grant;   /* of the headroom, see ledger.h */
	/* our own stack, see walk.h; stack_hi is 0 if it is not known */
	uint64_t stack_lo, stack_hi;
	uint64_t stack_floor;       /* stack_lo may fall down to it */
	struct moving_note *moving; /* moving.h; never NULL */
	const void *expect_free;    /* operator delete took it already */
	uint32_t scratch_taken;     /* bits */
	uint32_t process;           /* how many forks were before this one */
	uint32_t counted;           /* slow events under way, see lifecycle.c */
	uint32_t paused;            /* calls of seep_pause() not yet resumed */
	uint64_t paths_sp;          /* where paths_last was found */
	uint32_t paths_seen[PATHS_SEEN];
	/* see known.c: the last stack found there, how often in a row */
	uint64_t known_sp;
	uint32_t known_last, known_same, known_count, known_new;
	/* stacks in a row of which few frames differ, or that were new */
	uint32_t known_few;
	uint32_t known_hits;
	uint32_t outer_rooted; /* outer[] ends where a stack should */
	struct turns *turns;   /* NULL: not needed so far */
	struct recent *recent; /* likewise */
	/* the chunk that it logs into; of a flight recorder: its ring, a page */
	uint64_t *log_base, *log_seen, *log_page;
	uint64_t log_time, log_gap;
	uint64_t log_until; /* the clock when log_time will have changed */
	uint32_t log_chunk, log_number, log_first, log_thread;
	/* names: a chunk that has come to the one is full, and the words before
	 * the other are zero or stored */
	uint32_t log_stop, log_clear;
	uint32_t flight_by;       /* site of the stack that frees, see flight.c */
	struct thread *next;      /* in the list of all */
	struct thread *next_free; /* of those without an owner */
	uint32_t memo_room;       /* chunks that there is memory for */

	struct outer_frame outer[OUTER_MAX] __attribute__((aligned(64)));
	/* frame k of outer[] is at OUTER_MAX - 1 - k: innermost first */
	uint64_t outer_words[OUTER_MAX];
	uint16_t check_frame[OUTER_MAX * 3]; /* whose step loads this word */
	struct outer_frame walk[OUTER_MAX];
	struct outer_seen seen_frames[1 << OUTER_SEEN_BITS];
	uint64_t listed[OUTER_MAX]; /* frames of a stack, see known.h */
	uint64_t scratch[THREAD_SCRATCHES][OUTER_MAX];
};

#endif

/* log.h - the event log: which words an event stores, and where. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOG_H
#define SEEP_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/heap/blocks.h"
#include "collector/thread_types.h"
#include "collector/way.h"
#include "format/seg_log.h"

/*
 * Only with SEEP_LOG. format/seg_log.h has the format. A thread stores the words of
 * its events into a chunk of its own, and so does one common chunk get those of
 * nested events, with atomic operations. Nobody waits: if the pool (logpool.h)
 * has no free chunk, a thread counts its events instead (`lost`).
 *
 * The cells of the live map hold names instead of births, from the first event
 * of the process on. So log_birth() stands between a cell and a tick.
 */

/* Is there a log? Decided when the process starts. */
extern SEEP_HIDDEN bool log_is_on;

/* Reallocs in the log so far. */
extern SEEP_HIDDEN uint32_t log_resizes;

/* See struct log_birth; private memory. */
extern SEEP_HIDDEN struct log_birth *log_births[LOG_BIRTH_LEAVES];

SEEP_INLINE const struct log_birth *log_birth_entry(uint32_t name)
{
	const uint32_t number = name >> LOG_INDEX_BITS;

	return &log_births[number >> LOG_BIRTH_BITS & (LOG_BIRTH_LEAVES - 1)]
	                  [number & (LOG_BIRTH_ENTRIES - 1)];
}

/* The birth of a block, from what its cell has in place of it. */
SEEP_INLINE uint32_t log_birth(uint32_t birth)
{
	return unlikely(log_is_on) ? log_birth_tick(log_birth_entry(birth), birth) : birth;
}

/* ---- the usual event, inline ---------------------------------------------- */

/*
 * Can one word be stored? Not if it would be lost. If another thread has seen a
 * new tick, this one notes it when it looks at the clock itself.
 */
SEEP_INLINE bool log_has_room(const struct thread *t)
{
	return likely(t->log.next < t->log.limit);
}

/* Where the word with this name is, in the chunk of the thread. */
SEEP_INLINE uint64_t *log_word_of(const struct thread *t, uint32_t name)
{
	return (uint64_t *)(uintptr_t)(t->log.origin + name * sizeof(uint64_t));
}

/* Stores the next word, whose name is t->log.next, if log_has_room(). */
SEEP_INLINE void log_put(struct thread *t, uint64_t word)
{
	STORE(log_word_of(t, t->log.next), word);
	cpu_add_local(&t->log.next, 1);
}

/*
 * All that an event takes while the pool has no chunk (t->log.loses). A block has
 * the name t->log.lost_name then.
 */
SEEP_INLINE void log_lose(struct thread *t, uint32_t events)
{
	t->log.lost += events;
}

/* ---- any event ------------------------------------------------------------ */

/* Words of an event that has not been stored yet. */
struct log_slot {
	uint64_t *at;   /* NULL: nowhere */
	uint32_t *done; /* of a chunk of several threads; else NULL */
	uint64_t time;  /* a word before them; 0: none */
	uint32_t *lost; /* the event was counted here; else NULL */
	uint32_t words;
	uint32_t moved; /* name of the block that was resized; UINT32_MAX */
};

/*
 * Reserves words for an allocation, or for the realloc of the block `moved` (if
 * it is not UINT32_MAX), and returns what its cell has in place of a birth. log_store() must
 * follow.
 */
uint32_t log_reserve(
    enum way way, struct thread *t, uint64_t size, uint32_t moved, struct log_slot *ret);

/* Site 0: the event was not recorded. */
void log_store(const struct log_slot *s, uint32_t site, uint64_t size, const void *p);

/*
 * For the payload of LOG_REALLOC. Not the cycle counter, which a process in
 * strict seccomp mode must not read.
 */
SEEP_INLINE uint32_t log_next_stamp(void)
{
	return ADD(&log_resizes, 1);
}

/* The free of a block. */
void log_free(enum way way, struct thread *t, struct block_entry b);

/* After a look at the clock: has the tick of the log changed? */
void log_look(struct thread *t);

/* ---- life ----------------------------------------------------------------- */

/*
 * The log, or the flight recorder (flight.h): each function below serves the
 * one that this process has.
 */

/* At the start, after segment_init(): there is a pool, or not. */
void log_start(void);

/* The thread's block goes to another thread, or to a forked child. */
void log_leave(struct thread *t);
void log_forget(struct thread *t);

/* A signal handler has left a hook of this thread by siglongjmp. */
void log_heal(struct thread *t);

/*
 * In a forked child, by its first event: it has no pool yet. Its events are in
 * private memory until log_move().
 */
void log_restart(void);

/*
 * The child has a segment now, and logpool has its pool, or none. Other threads
 * are held.
 */
void log_move(void);

/* At exit: counts what threads have not counted yet as lost. */
void log_end(void);

/* The time in LOG_TICK_NS: by a look at the clock, or the tick if it is later. */
uint64_t log_time(uint64_t clock_ns, uint32_t tick);

/* Of the thread that has this block; 0: not known. */
uint32_t log_tid(const struct thread *t);

#endif

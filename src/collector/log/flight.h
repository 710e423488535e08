/* flight.h - the flight recorder: the last events of each thread, in rings. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHT_H
#define SEEP_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/heap/blocks.h"
#include "collector/thread_types.h"
#include "collector/way.h"
#include "format/seg_flight.h"

/*
 * Only with SEEP_LOG=last. format/seg_flight.h has the format. The pool of the log
 * (logpool.h) is divided into rings. A thread has one of its own as long as it
 * lives; a dead thread's ring is used again when no unused one is left, the
 * one of the longest dead thread first. A thread for which there is no ring is
 * counted (SEG_LOG_THREADS) and stores into a private page, so it is as fast as
 * the others; it asks again every 10 ms, and then what is in the page moves to
 * the ring. So do the first events of a forked child, which has no pool yet.
 *
 * Cells of the live map have births, as without a log. log.h has the functions
 * about the life of threads and processes, which call those below.
 */

/* Decided when the process starts. */
extern SEEP_HIDDEN bool flight_is_on;
extern SEEP_HIDDEN bool flight_has_frees; /* SEEP_LOG=last,frees */

/* ---- the usual event, inline ---------------------------------------------- */

/* Can one entry be stored, at the tick `tick`? */
SEEP_INLINE bool flight_has_room(const struct thread *t, uint32_t tick)
{
	return likely(t->flight.at < t->flight.end && t->flight.tick == tick);
}

SEEP_INLINE void flight_put(struct thread *t, uint64_t what, uint64_t address)
{
	uint64_t *at = t->flight.at;

	STORE(&at[1], (address & FLIGHT_ADDRESS_MASK) | t->flight.when);
	STORE(&at[2], 0);
	STORE_RELEASE(&at[0], what);
	t->flight.at = at + 2;
}

/* ---- any event: t may be NULL, or nested ----------------------------------- */

void flight_alloc(
    enum way way, struct thread *t, const void *p, uint64_t size, uint32_t site, bool is_resized);

/* `age` in ticks; the stack of the free is that of flight_freed_at(). */
void flight_free(enum way way, struct thread *t, const void *p, struct block_entry b, uint32_t age,
    bool is_resized);

/* A free of an address at which no block begins. */
void flight_unknown(enum way way, struct thread *t, const void *p);

/*
 * The next free of the caller has this stack. A signal handler that frees
 * before it takes the stack away, and then that free has none.
 */
void flight_freed_at(uint32_t site);

/* After a look at the clock. */
void flight_look(struct thread *t);

/* ---- life: called by the functions of log.h -------------------------------- */

void flight_start(void);
void flight_leave(struct thread *t);
void flight_forget(struct thread *t);
void flight_restart(void);
void flight_move(void);

#endif

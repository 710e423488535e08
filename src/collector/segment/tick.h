/* tick.h - coarse time: one word in tenths of a second. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TICK_H
#define SEEP_TICK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/attr.h"

/*
 * Ticks since the process started. A thread that has seen enough events reads
 * the clock (CLOCK_MONOTONIC_COARSE, always in the vDSO) and advances the word,
 * so an event may see a tick that is up to 64 events of its thread old. The
 * word stops at CELL_BIRTH_MAX (format/cell.h), so that no age is wrong by a
 * whole turn of the clock.
 */
extern SEEP_HIDDEN uint32_t tick_word;

SEEP_INLINE uint32_t tick_now(void)
{
	return LOAD(&tick_word);
}

/*
 * Before all others: libc's clock_gettime (loader.h). NULL: it is not known, so
 * every look at the clock is a system call.
 */
typedef int tick_clock(clockid_t which, struct timespec *ret);
void tick_use_clock(tick_clock *clock);

/*
 * Tick 0 is now; returns the monotonic clock in nanoseconds. The exact clocks
 * distinguish the programs of a process that calls exec, but may need a system
 * call, so only the constructor reads them.
 */
uint64_t tick_start(bool exact);

/* Reads the clock, advances the word, returns nanoseconds. */
uint64_t tick_read(void);

/* Nanoseconds from tick 0 to this value of the clock. */
uint64_t tick_since(uint64_t ns);

uint64_t tick_realtime(bool exact);

/* Reads the clock; the tick it is in, and how long that has lasted. */
uint32_t tick_moment(uint32_t *ret_after_ns);

#endif

/* lifecycle_set.h - changes of the process's state, by start, fork and exit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIFECYCLE_SET_H
#define SEEP_LIFECYCLE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

/* From now on the process is running. False: no memory. By start.c. */
bool lifecycle_begin(void);

/* Never records, or no more: there is nothing to record into. */
void lifecycle_go_inert(void);

/* Before lifecycle_begin(): there will be no segment, so nothing is counted. */
void lifecycle_stay_out(void);

void lifecycle_set_mode(enum seg_mode mode);

/*
 * Obeys another command word, whose present value counts as obeyed if
 * `is_obeyed` says so, else 0 does. NULL: there is none.
 */
void lifecycle_listen(const uint32_t *command, bool is_obeyed);

/* Allocations that came before lifecycle_begin(). */
uint64_t lifecycle_early_events(void);

/* In a forked child: does what MADV_WIPEONFORK does on newer kernels. */
void lifecycle_wipe(void);

/* Is this no forked child, or one whose set-up has begun at least? */
bool lifecycle_is_set_up(void);

/* Running, and no thread is changing anything? Only looks. */
bool lifecycle_is_settled(void);

/*
 * Around a change of the segment that all tables lie in. One thread changes,
 * and slow events of others wait, for a bounded time. False: another thread is
 * changing something, or this is a child before its set-up.
 */
bool lifecycle_change_begins(void);
void lifecycle_change_ends(void);

/*
 * After lifecycle_change_begins(): waits until no slow event is under way but
 * the `own` ones of the caller. False: one did not end in time.
 */
bool lifecycle_change_is_alone(uint32_t own);

#endif

/* lifecycle.h - which state this process is in, and whether it records. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIFECYCLE_H
#define SEEP_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "format/format.h"

/*
 * A process starts (start.c), forks (fork.c, early.c) and exits (exit.c).
 * This header has what an event must know of that; lifecycle_set.h has what
 * those four files tell us.
 */

/*
 * Is there a segment to record into? In a forked child the first call sets it
 * up. False before the start, if the collector declined, and for an event that
 * comes in the middle of a child's set-up.
 */
bool lifecycle_running(void);

/* Has the process started, and did the collector not decline? Only looks. */
bool lifecycle_started(void);

/* Will there never be a segment? Then an event has nothing to do at all. */
extern SEEP_HIDDEN bool lifecycle_is_out;

/* Is recording on, exactly or by samples? */
bool lifecycle_is_on(void);
enum seg_mode lifecycle_mode(void);

/* Have allocations ever been ignored because recording was off? */
bool lifecycle_was_off(void);

/*
 * The command word that this process obeys, which every allocation looks at,
 * and the value of it that was obeyed last.
 */
extern SEEP_HIDDEN const uint32_t *lifecycle_command;
extern SEEP_HIDDEN uint32_t lifecycle_obeyed;

/*
 * Is this a forked child in its first events, whose segment is plain memory
 * (early.h)?
 */
extern SEEP_HIDDEN bool lifecycle_is_early;

/* Looks at the command word and acts on it; returns lifecycle_is_on(). */
bool lifecycle_poll(void);

/*
 * Around every slow event. As long as a forked child may move to a segment of
 * its own, slow events are counted, so that none is under way when it moves.
 */
bool lifecycle_slow_begins(void);
void lifecycle_slow_ends(bool counted);

/* Counts an allocation that is not recorded, under the right name. */
void lifecycle_passed_by(void);

#endif

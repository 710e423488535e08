/* lifecycle.h - start, fork, control and exit: the order of things. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_LIFECYCLE_H
#define SEEP_COLLECTOR_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "trace/format.h"

/*
 * Is there a segment to book into? In a forked child the first call sets it
 * up. False before the constructor, where it declined, and for an event that
 * comes in the middle of a child's set-up.
 */
bool lifecycle_running(void);

/* Has the constructor run, and did it not decline? No side effects. */
bool lifecycle_started(void);

/* Is recording on, exactly or by samples? */
bool lifecycle_is_on(void);
enum seg_mode lifecycle_mode(void);

/* Have allocations ever passed by because it was off? */
bool lifecycle_was_off(void);

/*
 * The command word that this process obeys, looked at by every allocation,
 * and its value when it was last obeyed.
 */
extern SEEP_HIDDEN const uint32_t *lifecycle_command;
extern SEEP_HIDDEN uint32_t lifecycle_obeyed;

/* Looks at the control word and acts on it; then as lifecycle_is_on(). */
bool lifecycle_poll(void);

/* A forked child in its first events, still without a segment of its own. */
bool lifecycle_in_nursery(void);

/*
 * Around every slow event. While a forked child may move to a segment of its
 * own, they are counted, so that none is under way when it does.
 */
bool lifecycle_slow_begins(void);
void lifecycle_slow_ends(bool counted);

/* Before a thread gets its block: a child had better move first. */
void lifecycle_new_thread(void);

/* All tables of the segment: fills `ret`, returns how many. */
struct segment_table;
size_t lifecycle_tables(struct segment_table **ret);

/* An allocation that is not recorded: counted under the right name. */
void lifecycle_passed_by(void);

#endif

/* outer.h - the outer frames of the last stack: a copy that can be proven. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_OUTER_H
#define SEEP_COLLECTOR_OUTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/thread.h"
#include "collector/walk.h"

/* Frames beyond this are not kept: "(stack deeper than the limit)". */
extern SEEP_HIDDEN uint32_t outer_depth;

/* Of a stack that is deeper, at least so many frames are kept. */
uint32_t outer_least_kept(void);

/* Has the copy been cut, with fewer frames than outer_least_kept()? */
bool outer_keeps_too_few(const struct thread *t, uint32_t frames);

/* Which special node a stack hangs below; `why` counts why it was cut. */
uint32_t outer_root(enum walk_result r, uint32_t why);

/*
 * Does the walk meet the last stack at outer[j], with all that is above? *fail
 * is the first frame that is known not to hold, INT32_MAX to begin with.
 * Returns j, or -1.
 */
int outer_meet(
    const struct thread *t, struct walk *w, uint64_t fp, int j, int *fail);

/*
 * The node of the frames from *w outwards, by walking up to where the last
 * stack is met. *hint says where they begin in the copy, UINT16_MAX: nowhere.
 */
uint32_t outer_walk(struct thread *t, struct walk *w, uint16_t *hint);

#endif

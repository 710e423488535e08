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

/* At least so many frames of a deeper stack are kept. */
uint32_t outer_least_kept(void);

/* Has the copy been cut, with fewer frames than outer_least_kept()? */
bool outer_keeps_too_few(const struct thread *t, uint32_t frames);

/* The special node at which a stack ends; counts under `why` if it was cut. */
uint32_t outer_root(enum walk_result r, uint32_t why);

/*
 * Does the walk meet the last stack at outer[j], so that this frame and all
 * above hold? *fail is the first frame that is known not to hold; INT32_MAX at
 * first. Returns j, or -1.
 */
int outer_meet(
    const struct thread *t, struct walk *w, uint64_t fp, int j, int *fail);

/* The node of outer[k] and the frames above; SITES_NODE_OUTER_DROPPED if none. */
uint32_t outer_node(struct thread *t, uint32_t k);

/*
 * The node of the frames from *w outwards, found by a walk up to where it meets
 * the last stack. *hint says where they begin in the copy; UINT16_MAX if they
 * do not.
 */
uint32_t outer_walk(struct thread *t, struct walk *w, uint16_t *hint);

#endif

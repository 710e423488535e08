/* paths.h - outer frames that come and go, found chunk by chunk. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PATHS_H
#define SEEP_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/thread.h"
#include "collector/unwind/walk.h"

/*
 * A program may allocate along several deep paths in turn, on stacks that are
 * not the thread's own (coroutines); for the thread's own stack see known.h. The
 * copy of the last stack holds one of them. The others are found chunk by chunk,
 * in the same
 * table as the inner frames (their key is the pc), each proven by its six words
 * as inner chunks are, until a chunk leads to a frame of the last stack that
 * holds, or the stack ends. A chunk remembers the node above it and the node
 * that it led to. So no unwind rule is looked up and no node is interned while
 * the same paths come back.
 *
 * For a stack that stays, chunks cost more than the copy. So a path gets chunks
 * when it is seen for the second time, and the copy is renewed when the same
 * node is asked for twice in a row at the same place, and now and then.
 *
 * If paths hardly ever come back (in a compiler), filling chunks is wasted
 * work. So a chunk that is found earns credit, one that is filled costs credit,
 * and without credit the stack is walked.
 */

/* What was found about the outer frames. */
struct paths_joined {
	uint16_t hint; /* where they are in frame[], or ~0 */
	bool vouched;  /* they end as a stack should, see memo.h */
};

/*
 * The node of the frames from c outwards, found by chunks; 0 if they must be
 * walked. If they are a part of the last stack, ret->hint says where.
 */
uint32_t paths_outer(
    struct thread *t, const struct walk *w, const struct cpu_frame *c, struct paths_joined *ret);

#endif

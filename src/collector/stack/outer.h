/* outer.h - the outer frames of the last stack, and those that come and go. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OUTER_H
#define SEEP_OUTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/thread.h"
#include "collector/unwind/walk.h"

/* Frames beyond this are not kept: "(stack deeper than the limit)". */
extern SEEP_HIDDEN uint32_t outer_depth;

/* At least so many frames of a deeper stack are kept. */
uint32_t outer_least_kept(void);

/* Has the copy been cut, with fewer frames than outer_least_kept()? */
bool outer_keeps_too_few(const struct thread *t, uint32_t frames);

/* The special node at which a stack ends; counts under `why` if it was cut. */
uint32_t outer_root(enum walk_result r, uint32_t why);

/*
 * Does the walk meet the last stack at frame[j], so that this frame and all
 * above hold? *fail is the first frame that is known not to hold; INT32_MAX at
 * first. Returns j, or -1.
 */
int outer_meet(const struct thread *t, struct walk *w, uint64_t fp, int j, int *fail);

/*
 * Each frame of the copy has a stamp, at the number of checks that prove it,
 * which no two frames have in common. A frame of which anything is to change,
 * or whose checks are, loses its stamp (0) before. So whoever remembers a stamp
 * that is still there knows that these checks prove what they proved then.
 *
 * Two frames have the same stamp only if everything about them is the same, and
 * about those further out. If stacks take turns, the same frames come back
 * again and again; t->copy.seen remembers some of them, so that they get the
 * stamp and the node that they had. That stays right without being renewed: the
 * outermost frame of the copy always has a new stamp, and its new stamp makes
 * all others new.
 *
 * Drops the frames from k on.
 */
void outer_drop(struct thread *t, uint32_t k);

/* Of a new block; and of one whose memo is empty. */
void outer_begin(struct thread *t);
void outer_forget(struct thread *t);

/* The frame of the copy at this pc and sp; NULL: there is none. */
SEEP_INLINE const struct outer_frame *outer_at(const struct thread *t, const struct cpu_frame *c)
{
	const struct outer_frame *o = t->copy.frame + t->copy.count;

	while (o-- > t->copy.frame) {
		if (o->sp >= c->sp)
			return o->sp == c->sp && o->pc == c->pc ? o : NULL;
	}
	return NULL;
}

/* The node of frame[k] and the frames above; SITES_NODE_OUTER_DROPPED if none. */
uint32_t outer_node(struct thread *t, uint32_t k);

/*
 * The node of the frames from *w outwards, found by a walk up to where it meets
 * the last stack. *hint says where they begin in the copy; UINT16_MAX if they
 * do not.
 */
uint32_t outer_walk(struct thread *t, struct walk *w, uint16_t *hint);

/* ---- paths: outer frames that come and go, found chunk by chunk ---- */

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

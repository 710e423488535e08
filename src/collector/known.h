/* known.h - a stack that was seen before: a walk and one look-up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_KNOWN_H
#define SEEP_COLLECTOR_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/hash.h"
#include "collector/sites.h"
#include "collector/thread.h"
#include "collector/walk.h"

/*
 * The copy of the last stack (outer.h) proves one stack. If others come, in
 * any order, their outer frames must be walked; but nothing has to be interned
 * frame by frame, and the copy need not be renewed. The walk lists the frames
 * in one array. Their sum of hashes finds the site in an index of whole
 * stacks, and the site is proven by comparing every frame of the list with the
 * rows of the site in the segment. A stack that is not found there is interned
 * as always, and entered.
 *
 * Frames that the stack shares with the copy are not walked: where a frame of
 * the copy is met, the words that prove it are compared from the inside out.
 * If all hold, the rest of the stack is that of the copy. If one differs, the
 * frames up to the one whose step loads this word are the same, and the walk
 * goes on from there.
 *
 * That is for stacks that take turns: the copy has been at this frame before,
 * and now the outer words differ, or many frames differ. If only a few do,
 * because the program has gone a step further, they are interned, and the copy
 * serves the next stack as well.
 *
 * Only on the thread's own stack, where every load is safe. A stack with a
 * frame that needs more than sp, fp and the return address (signal frames, the
 * loader's code for binding, realigned stacks), one that is cut or too deep is
 * left to outer_walk().
 */
struct known {
	uint64_t hash;  /* of all frames from *w outwards; 0: not listed */
	uint32_t count; /* of the frames in t->listed, innermost first */
	uint32_t base;  /* the node above them */
};

/* The part of a stack's hash that a frame has; place 0 is the outermost. */
SEEP_INLINE uint64_t
known_hash(uint64_t frame, uint32_t place)
{
	uint64_t h =
	    (frame ^ (place + 1) * HASH_GOLDEN) * UINT64_C(0xD6E8FEB86659FD93);

	return h ^ h >> 32;
}

/*
 * The site of the stack whose inner frames are the record `inner` and whose
 * outer ones begin at *w, if it is known and need not be copied; else 0. Then
 * *ret is for known_add(). With `differs` *w is at frame `j` of the copy, and
 * that check is the first that fails; if it is below 0, nothing is known but
 * that *w is not below frame `j`.
 */
struct site_id known_site(struct thread *t, const struct walk *w,
    uint32_t inner, int j, int differs, struct known *ret);

/* After the stack has been interned: the next known_site() finds it. */
void known_add(const struct known *k, uint32_t inner, struct site_id site);

#endif

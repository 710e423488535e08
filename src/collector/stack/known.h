/* known.h - a stack that was seen before: a walk and one look-up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_KNOWN_H
#define SEEP_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/hash.h"
#include "collector/heap/sites.h"
#include "collector/thread.h"
#include "collector/unwind/walk.h"

/*
 * The copy of the last stack (outer.h) proves one stack. If others come, in
 * any order, their outer frames must be walked; but nothing has to be interned
 * frame by frame, and the copy need not be renewed. The walk lists the frames
 * in one array. Their sum of hashes finds the site in an index of whole
 * stacks, and the site is proven by comparing every frame of the list with the
 * rows of the site in the segment. A stack that is not found there is interned
 * as always, and entered.
 *
 * Those rows lie in several places, each found by a number in the one before.
 * So a thread keeps the lists of some hundred stacks that took turns (struct
 * turns), each with all its outer frames in one array, and its site. A stack
 * with the same frames and the same record of inner frames has the same site. It
 * gets in when it is found, if there is room, or if it comes twice while none
 * else does; otherwise thousands of stacks would push each other out.
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

/* The part of a stack's hash that a frame has; place 0 is the outermost. */
SEEP_INLINE uint64_t known_hash(uint64_t frame, uint32_t place)
{
	return hash_part(frame, place);
}

/*
 * The site of the stack whose inner frames are the record `inner` and whose
 * outer ones begin at *w, if it need not be copied and is known, or takes turns
 * with the copy; else 0. With `differs` *w is at frame `j` of the copy, and that
 * check is the first that fails; if it is below 0, nothing is known but that *w
 * is not below frame `j`.
 */
struct site_id known_site(
    struct thread *t, const struct walk *w, uint32_t inner, enum seg_api api, int j, int differs);

/*
 * The site of the stack whose outer frames are those of the copy up to frame
 * `k`, which has a node. The node of the frame may change. `own`: the walk began
 * on the thread's own stack. Only elsewhere the same stack may be found without
 * the copy (outer.h), and then by sites_get().
 */
struct site_id known_get(struct thread *t, uint32_t k, uint32_t inner, enum seg_api api, bool own);

/* Forgets the stacks that took turns: a forked child has other sites. */
void known_forget(struct thread *t);

#endif

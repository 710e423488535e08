/* resizing.h - blocks with a note: being resized, or kept on purpose. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RESIZING_H
#define SEEP_RESIZING_H

#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/levels.h"
#include "format/seg_ignored.h"
#include "format/seg_resizing.h"

extern SEEP_HIDDEN struct resizing_page resizing_first;

/*
 * A note for a new block of a thread, for good. The common note if there is no
 * memory. Lock-free; a signal handler may call it.
 */
struct resizing_note *resizing_note_new(void);

/* A note until resizing_end(), for a thread that has no block. The same promises. */
struct resizing_note *resizing_note_lend(void);

/*
 * Around a realloc: before the block is taken out of the live map, when its size
 * is known from there, when the real function has returned, and after the block
 * was put back. A signal handler that resizes a block meanwhile ends the note of
 * the one that it has interrupted.
 */
SEEP_INLINE void resizing_begin(struct resizing_note *n, const void *old)
{
	STORE(&n->to, 0);
	STORE(&n->size, 0);
	STORE(&n->count, n->count + 1);
	STORE_RELEASE(&n->address, (uint64_t)(uintptr_t)old);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

SEEP_INLINE void resizing_taken(struct resizing_note *n, uint64_t size)
{
	STORE_RELEASE(&n->size, size);
}

SEEP_INLINE void resizing_moved(struct resizing_note *n, const void *p, uint64_t size)
{
	STORE(&n->to_size, size);
	STORE_RELEASE(&n->to, (uint64_t)(uintptr_t)p);
}

SEEP_INLINE void resizing_end(struct resizing_note *n)
{
	STORE_RELEASE(&n->address, 0);
	if (unlikely(n->lent))
		STORE_RELEASE(&n->lent, 0);
}

/* ---- ignored: blocks that the host keeps on purpose: seep_ignore() ---- */

extern SEEP_HIDDEN struct level *ignored_levels[IGNORED_LEVELS];

/*
 * Ignores the block that begins here. An address that is no known block is
 * counted (SEG_IGNORED_UNKNOWN), and so is a block for which there is no room
 * (SEG_LOST_IGNORED). Lock-free; a signal handler may call it. A forked child
 * has a copy of the table, as it has of the blocks.
 */
void ignored_add(uint64_t address);

#endif

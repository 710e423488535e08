/* moving_blocks.h - blocks that a process is resizing right now. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MOVING_BLOCKS_H
#define SEEP_MOVING_BLOCKS_H

#include <stdbool.h>

#include "host/memory/foreign.h"
#include "format/format.h"
#include "format/seg_resizing.h"

/*
 * Such a block is in no live map, but in a note of its thread (format/seg_resizing.h).
 * Whoever resizes it has a pointer to it, so its contents are roots.
 *
 * The notes change while they and the contents are read. If they are the same
 * before and after the contents were read, the contents are those of the block.
 * Otherwise it may have moved on; memory that it has left usually still has its
 * contents, but the allocator may have written into it. So both are read again,
 * up to MOVING_ROUNDS times, and all that was found counts.
 */
enum {
	MOVING_ROUNDS = 16,
	MOVING_PAGES_MAX = 1024, /* of a made-up list of pages, without end */
};

/* Notes that were ever used, in the order of their pages. */
struct moving {
	struct resizing_note *notes;
	size_t count, room;
};

/*
 * Replaces what *m has. An older collector has no notes. -ENOMEM, or as of
 * foreign_read().
 */
int moving_blocks_read(
    struct foreign *memory, const struct seg_header *h, struct moving *m, struct fault *where);
void moving_blocks_release(struct moving *m);

bool moving_blocks_is_same(const struct moving *a, const struct moving *b);

/* Is a block being resized? */
bool moving_blocks_any(const struct moving *m);

#endif

/* seg_resizing.h - notes of blocks that are being resized, which no live map has. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEG_RESIZING_H
#define SEEP_SEG_RESIZING_H

#include <stdint.h>

/*
 * realloc takes a block out of the live map before the real function is called,
 * and puts it back afterwards, perhaps at another address. In between the block
 * is in a note of its thread. The notes are in pages of the host's private
 * memory; the first page is at seg_header.moving_root.
 *
 * The thread changes its note by plain stores. It stores `address` before it takes
 * the block out of the live map, `size` right after that, and `to_size` before
 * `to`. A note of another thread that was in realloc when its
 * process forked stays in the child as it was, because there the block stays in
 * no live map, too.
 */
struct resizing_note {
	uint64_t address; /* of the block before; 0: none is being resized */
	uint64_t size;    /* 0: not known, or not yet */
	uint64_t to;      /* where it is now; 0: the function has not returned */
	uint64_t to_size;
	uint64_t count; /* of blocks that were resized with this note */
	/* 1: lent to a thread without one, for this block; for the collector */
	uint64_t lent;
	uint64_t reserved[2];
};

enum { RESIZING_PAGE_BYTES = 4096, RESIZING_NOTES = 63, RESIZING_LENDABLE = 16 };

struct resizing_page {
	uint64_t next; /* address of the next page, 0: none */
	uint64_t reserved[7];
	/*
	 * The first ones of the first page are lent to threads without one; the
	 * very first is common to all such threads when no other is left.
	 */
	struct resizing_note notes[RESIZING_NOTES];
};

_Static_assert(sizeof(struct resizing_note) == 64, "a note is a cache line");
_Static_assert(sizeof(struct resizing_page) == RESIZING_PAGE_BYTES, "a page");

#endif

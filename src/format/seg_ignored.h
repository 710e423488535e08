/* seg_ignored.h - the table of blocks that the host keeps on purpose. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEG_IGNORED_H
#define SEEP_SEG_IGNORED_H

#include <stdint.h>

/*
 * What seep_ignore() was told, in the host's private memory. At
 * seg_header.ignored_root there are IGNORED_LEVELS pointers to levels, 0: there
 * is none. A level is one word, its number of bits, and 2^bits entries; level i
 * has IGNORED_FIRST_BITS + i * IGNORED_GROW_BITS of them.
 *
 * free() does not look here. So an entry holds for a block that has this
 * address and a cell with the same site and birth (format/cell.h), and for no
 * other.
 */
enum {
	IGNORED_LEVELS = 6,
	IGNORED_FIRST_BITS = 8,
	IGNORED_GROW_BITS = 2,
	IGNORED_HEAD_BYTES = 8,
};

struct ignored_entry {
	uint64_t address; /* 0: free */
	uint64_t cell;    /* as the block had it then; 0: being written */
};

_Static_assert(sizeof(struct ignored_entry) == 16, "ignored");

#endif

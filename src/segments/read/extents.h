/* extents.h - finds row i of one kind in the extents of a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXTENTS_H
#define SEEP_EXTENTS_H

#include "segments/read/segment_copy.h"

/* The extents of one kind, sorted by first row. Borrows from the segment. */
struct extents {
	const struct segment_rows **extents;
	uint64_t *before; /* for each extent: number of rows before it */
	size_t count;
	uint64_t total; /* rows */
};

/* -ENOMEM. */
int extents_init(struct extents *r, const struct segment *seg, uint32_t kind);
void extents_release(struct extents *r);

/* Copies the row into a struct of size bytes; false: there is no such row. */
bool extents_get(const struct extents *r, uint64_t i, void *row, size_t size);

/*
 * The same for a table whose rows have become longer. Fields that a shorter row
 * does not have are zero. Returns how many bytes the row has; 0: there is no
 * such row.
 */
size_t extents_take(const struct extents *r, uint64_t i, void *row, size_t size);

/*
 * As extents_get(), and *ret_position is the position of the row among all
 * rows. It is below r->total, which never exceeds the number of bytes in the
 * segment.
 */
bool extents_find(
    const struct extents *r, uint64_t i, void *row, size_t size, uint64_t *ret_position);

#endif

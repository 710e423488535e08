/* rows.h - finds row i of one kind, wherever the extents have it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_ROWS_H
#define SEEP_READER_ROWS_H

#include "reader/segment.h"

/* The extents of one kind, sorted by first row. Borrows from the segment. */
struct rows {
	const struct segment_rows **extents;
	uint64_t *before; /* rows in the extents before each */
	size_t count;
	uint64_t total; /* rows */
};

/* -ENOMEM. */
int rows_init(struct rows *r, const struct segment *seg, uint32_t kind);
void rows_release(struct rows *r);

/* Copies the row into a struct of size bytes; false: there is none. */
bool rows_get(const struct rows *r, uint64_t i, void *row, size_t size);

/*
 * The same for a table whose rows have grown: what a shorter row does not have
 * is zero. Returns how many bytes it has; 0: there is no such row.
 */
size_t rows_take(const struct rows *r, uint64_t i, void *row, size_t size);

/*
 * As rows_get(), and the row's position among all rows there are: below r->total,
 * which is no more than the segment has bytes.
 */
bool rows_find(const struct rows *r, uint64_t i, void *row, size_t size,
    uint64_t *ret_position);

#endif

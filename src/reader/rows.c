/* rows.c - finds row i of one kind, wherever the extents have it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int
by_first(const void *a, const void *b)
{
	const struct segment_rows *const *x = a, *const *y = b;

	return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

int
rows_init(struct rows *r, const struct segment *seg, uint32_t kind)
{
	*r = (struct rows){0};
	r->extents =
	    calloc(seg->extent_count + 1, sizeof(struct segment_rows *));
	r->before = calloc(seg->extent_count + 1, sizeof(*r->before));
	if (!r->extents || !r->before) {
		rows_release(r);
		return -ENOMEM;
	}
	for (size_t i = 0; i < seg->extent_count; i++)
		if (seg->extents[i].kind == kind)
			r->extents[r->count++] = &seg->extents[i];
	qsort(r->extents, r->count, sizeof(struct segment_rows *), by_first);
	for (size_t i = 0; i < r->count; i++) {
		r->before[i] = r->total;
		r->total += r->extents[i]->count;
	}
	return 0;
}

void
rows_release(struct rows *r)
{
	free(r->extents);
	free(r->before);
	*r = (struct rows){0};
}

bool
rows_find(const struct rows *r, uint64_t i, void *row, size_t size,
    uint64_t *ret_position)
{
	const struct segment_rows *x;
	size_t low = 0, high = r->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->extents[middle]->first <= i)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	x = r->extents[low - 1];
	if (i - x->first >= x->count || size > x->row_bytes)
		return false;
	memcpy(row, segment_row(x, (uint32_t)(i - x->first)), size);
	*ret_position = r->before[low - 1] + (i - x->first);
	return true;
}

bool
rows_get(const struct rows *r, uint64_t i, void *row, size_t size)
{
	uint64_t position;

	return rows_find(r, i, row, size, &position);
}

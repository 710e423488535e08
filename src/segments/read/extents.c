/* extents.c - finds row i of one kind in the extents of a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/extent_list.h"

#include "base/std.h"
#include "kit/data/sorted.h"

static int by_first(const void *a, const void *b)
{
	const struct segment_rows *const *x = a, *const *y = b;

	return ((*x)->first > (*y)->first) - ((*x)->first < (*y)->first);
}

int extents_init(struct extents *r, const struct segment *seg, uint32_t kind)
{
	*r = (struct extents){0};
	r->extents = calloc(seg->extent_count + 1, sizeof(struct segment_rows *));
	r->before = calloc(seg->extent_count + 1, sizeof(*r->before));
	if (!r->extents || !r->before) {
		extents_release(r);
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

void extents_release(struct extents *r)
{
	free(r->extents);
	free(r->before);
	*r = (struct extents){0};
}

/* Number + 1 of the extent that contains the row; 0: none. */
static size_t extent_of(const struct extents *r, uint64_t i)
{
	const struct segment_rows *x;
	size_t low = sorted_first(r->extents, r->count, item, (*item)->first <= i);

	if (low == 0)
		return 0;
	x = r->extents[low - 1];
	return i - x->first < x->count ? low : 0;
}

bool extents_find(
    const struct extents *r, uint64_t i, void *row, size_t size, uint64_t *ret_position)
{
	size_t at = extent_of(r, i);
	const struct segment_rows *x = at > 0 ? r->extents[at - 1] : NULL;

	if (!x || size > x->row_bytes)
		return false;
	memcpy(row, segment_copy_row(x, (uint32_t)(i - x->first)), size);
	*ret_position = r->before[at - 1] + (i - x->first);
	return true;
}

size_t extents_take(const struct extents *r, uint64_t i, void *row, size_t size)
{
	size_t at = extent_of(r, i);
	const struct segment_rows *x = at > 0 ? r->extents[at - 1] : NULL;

	if (!x)
		return 0;
	return segment_copy_row_into(x, (uint32_t)(i - x->first), row, size);
}

bool extents_get(const struct extents *r, uint64_t i, void *row, size_t size)
{
	uint64_t position;

	return extents_find(r, i, row, size, &position);
}

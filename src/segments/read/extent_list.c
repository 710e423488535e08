/* extent_list.c - follows the extent directory of a segment while it grows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/extent_list.h"

#include "base/std.h"
#include "kit/data/sorted.h"
#include "kit/os/infile.h"

enum { BLOCKS_FIRST = 4 }; /* room for so many at first */

int extent_list_read(const struct extent_list_place *at, uint64_t offset, void *to, size_t len)
{
	if (offset > at->limit || len > at->limit - offset)
		return -EBADMSG;
	return source_read(at->source, at->base + offset, to, len);
}

int extent_list_read_block(const struct extent_list_place *at, const struct extent_list_block *b,
    bool with_samples,
    void (*each)(void *context, const struct extent_list_piece *p, const uint8_t *rows),
    void *context)
{
	uint8_t few[ID_GROUP_ROWS * sizeof(struct seg_sample)];
	int err = 0;

	for (size_t i = 0; i < b->count && err == 0; i++) {
		const struct extent_list_piece *p = &b->pieces[i];
		size_t len = (size_t)p->count * p->row_bytes;
		uint8_t *rows = few;

		if (p->is_sample && !with_samples)
			continue;
		if (len > sizeof(few)) /* rows of a later version */
			rows = malloc(len);
		err = rows ? extent_list_read(at, p->offset, rows, len) : -ENOMEM;
		if (err == 0)
			each(context, p, rows);
		if (rows != few)
			free(rows);
	}
	return err;
}

void extent_list_release(struct extent_list *d)
{
	for (size_t i = 0; i < d->block_room; i++) {
		free(d->blocks[i].pieces);
		free(d->blocks[i].kept);
	}
	free(d->blocks);
	free(d->known);
	*d = (struct extent_list){0};
}

static int make_room(struct extent_list *d, uint32_t used, const struct extent_list_hooks *x)
{
	uint8_t *known;

	if (used <= d->room)
		return 0;
	if (!x->take(x->context, used - d->room))
		return -EFBIG;
	known = realloc(d->known, used);
	if (!known)
		return -ENOMEM;
	memset(known + d->room, 0, used - d->room);
	d->known = known;
	d->room = used;
	return 0;
}

static bool is_inside(const struct seg_extent *x, uint64_t limit)
{
	uint64_t bytes = (uint64_t)x->count * x->row_bytes;

	return x->row_bytes > 0 && x->row_bytes <= SEGMENT_MAX_ROW && x->offset <= limit &&
	    bytes <= limit - x->offset && x->first <= UINT64_MAX - x->count;
}

/*
 * Leaves those that are to be added: all others become SEG_EXT_NONE, and are
 * known if they will not change.
 */
static int choose(struct extent_list *d, const struct extent_list_place *at, struct seg_extent *dir,
    uint32_t used, const struct extent_list_hooks *hooks)
{
	uint64_t claimed = d->claimed;

	for (uint32_t i = d->done; i < used; i++) {
		struct seg_extent *x = &dir[i - d->done];
		uint64_t bytes;

		if (d->known[i] || x->kind == SEG_EXT_NONE) {
			x->kind = SEG_EXT_NONE;
			continue;
		}
		if (x->count == 0 || !hooks->wants(x->kind)) {
			x->kind = SEG_EXT_NONE;
			d->known[i] = 1;
			continue;
		}
		if (x->kind == SEG_EXT_STRING && x->row_bytes == 0)
			x->row_bytes = 1;
		bytes = (uint64_t)x->count * x->row_bytes;
		/* extents do not overlap, so they are no more than all */
		if (!is_inside(x, at->limit) || claimed > at->limit || bytes > at->limit - claimed)
			return -EBADMSG;
		claimed += bytes;
	}
	if (claimed > SEGMENT_MAX_BYTES ||
	    !holes_allow(at->source->fd, at->base, at->limit, claimed))
		return -EBADMSG;
	d->claimed = claimed;
	return 0;
}

static int add_piece(struct extent_list_block *to, const struct extent_list_piece *piece)
{
	struct extent_list_piece *more = reallocarray(to->pieces, to->count + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	to->pieces = more;
	more[to->count++] = *piece;
	return 0;
}

static int block_of(struct extent_list *d, size_t n, const struct extent_list_hooks *hooks,
    struct extent_list_block **ret)
{
	struct extent_list_block *b;

	if (n >= d->block_room) {
		size_t room = d->block_room ? d->block_room : BLOCKS_FIRST;

		while (room <= n)
			room *= 2;
		if (!hooks->take(hooks->context, (room - d->block_room) * sizeof(*b)))
			return -EFBIG;
		b = reallocarray(d->blocks, room, sizeof(*b));
		if (!b)
			return -ENOMEM;
		memset(b + d->block_room, 0, (room - d->block_room) * sizeof(*b));
		d->blocks = b;
		d->block_room = room;
	}
	b = &d->blocks[n];
	if (!b->kept) {
		if (!hooks->take(hooks->context, hooks->kept_bytes + hooks->beside_bytes))
			return -EFBIG;
		b->kept = calloc(1, hooks->kept_bytes);
		if (!b->kept)
			return -ENOMEM;
	}
	*ret = b;
	return 0;
}

/* The next border of blocks behind an id. */
static uint64_t border(uint64_t id, uint64_t end)
{
	uint64_t next = (id | (ID_GROUP_ROWS - 1)) + 1;

	return next < end ? next : end;
}

/* Adds each piece of an extent to its block. */
static int cut(
    struct extent_list *d, const struct seg_extent *x, const struct extent_list_hooks *hooks)
{
	uint64_t end = x->first + x->count;
	struct extent_list_block *to;
	size_t count = 0;
	int err = 0;

	if (x->row_bytes < DIRECTORY_ROW_BYTES)
		return -EBADMSG;
	if (end >> SEG_SITE_BITS)
		end = UINT64_C(1) << SEG_SITE_BITS; /* no site is beyond */
	/* all or nothing: an extent that has no room is added later */
	for (uint64_t id = x->first; id < end && err == 0; id = border(id, end), count++)
		err = block_of(d, (size_t)(id >> ID_GROUP_BITS), hooks, &to);
	if (err == 0 && !hooks->take(hooks->context, count * sizeof(*to->pieces)))
		err = -EFBIG;
	for (uint64_t id = x->first; id < end && err == 0; id = border(id, end)) {
		const struct extent_list_piece piece = {
		    .offset = x->offset + (id - x->first) * x->row_bytes,
		    .row_bytes = x->row_bytes,
		    .first = (uint16_t)(id % ID_GROUP_ROWS),
		    .count = (uint16_t)(border(id, end) - id),
		    .is_sample = x->kind == SEG_EXT_SAMPLE,
		    .is_pool = !seg_is_heap_array(x->owner),
		};

		err = block_of(d, (size_t)(id >> ID_GROUP_BITS), hooks, &to);
		if (err == 0)
			err = add_piece(to, &piece);
	}
	return err;
}

int extent_list_follow(struct extent_list *d, const struct extent_list_place *at,
    const struct seg_header *h, const struct extent_list_hooks *hooks)
{
	uint32_t used = h->dir_used < h->dir_capacity ? h->dir_used : h->dir_capacity;
	struct seg_extent *dir;
	bool is_chosen;
	int err;

	if (used <= d->done)
		return 0;
	if (used > SEGMENT_MAX_EXTENTS ||
	    h->dir_offset > at->limit) /* else the sum below may wrap */
		return -EBADMSG;
	err = make_room(d, used, hooks);
	if (err < 0)
		return err;
	dir = calloc(used - d->done, sizeof(*dir));
	if (!dir)
		return -ENOMEM;
	err = extent_list_read(at, h->dir_offset + (uint64_t)d->done * sizeof(*dir), dir,
	    (used - d->done) * sizeof(*dir));
	if (err == 0)
		err = choose(d, at, dir, used, hooks);
	is_chosen = err == 0;
	for (uint32_t i = d->done; i < used && is_chosen; i++) {
		const struct seg_extent *x = &dir[i - d->done];

		if (x->kind == SEG_EXT_NONE)
			continue;
		if (err == 0)
			err = x->kind == SEG_EXT_LEDGER || x->kind == SEG_EXT_SAMPLE
			    ? cut(d, x, hooks)
			    : hooks->add(hooks->context, x);
		if (err == 0)
			d->known[i] = 1;
		else /* it is claimed again the next time */
			d->claimed -= (uint64_t)x->count * x->row_bytes;
	}
	free(dir);
	while (d->done < used && d->known[d->done])
		d->done++;
	return err;
}

/* ---- extents: finds row i of one kind in the extents of a segment ---- */

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

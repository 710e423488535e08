/* tail_directory.c - finds the rows of a watched segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/tail_parts.h"
#include "trace/holes.h"
#include "trace/tables.h"

/* Checks the limit before memory is taken for the life of the tail. */
static int
charge(struct tail *t, size_t bytes)
{
	if (bytes > t->room->bytes)
		return -EFBIG;
	t->room->bytes -= bytes;
	t->charged += bytes;
	return 0;
}

static int
block_of(struct tail *t, uint64_t id, struct tail_block **ret)
{
	size_t n = (size_t)(id >> TAIL_BLOCK_BITS);

	if (n >= t->block_room) {
		size_t room = t->block_room ? t->block_room : 64;
		struct tail_block **bigger;

		while (room <= n)
			room *= 2;
		if (charge(t,
		        (room - t->block_room) * sizeof(struct tail_block *)) <
		    0)
			return -EFBIG;
		bigger =
		    reallocarray(t->blocks, room, sizeof(struct tail_block *));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + t->block_room, 0,
		    (room - t->block_room) * sizeof(struct tail_block *));
		t->blocks = bigger;
		t->block_room = room;
	}
	if (!t->blocks[n]) {
		if (charge(t, sizeof(struct tail_block) + TAIL_BLOCK_COLUMNS) <
		    0)
			return -EFBIG;
		t->blocks[n] = calloc(1, sizeof(struct tail_block));
		if (!t->blocks[n])
			return -ENOMEM;
	}
	*ret = t->blocks[n];
	return 0;
}

/* Splits a ledger or sample extent at the borders of blocks of ids. */
static int
add_pieces(struct tail *t, const struct seg_extent *x)
{
	uint64_t id = x->first, end = x->first + x->count;

	if (x->row_bytes < TAIL_ROW_BYTES)
		return -EBADMSG;
	if (end >> SEG_SITE_BITS)
		end = UINT64_C(1) << SEG_SITE_BITS; /* no site is beyond */
	while (id < end) {
		uint64_t next = (id | (TAIL_BLOCK_ROWS - 1)) + 1;
		struct tail_block *b;
		struct tail_piece *more;
		int err = block_of(t, id, &b);

		if (err == 0)
			err = charge(t, sizeof(*more));
		if (err < 0)
			return err;
		more =
		    reallocarray(b->pieces, b->piece_count + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		b->pieces = more;
		if (next > end)
			next = end;
		more[b->piece_count++] = (struct tail_piece){
		    .offset = x->offset + (id - x->first) * x->row_bytes,
		    .row_bytes = x->row_bytes,
		    .first = (uint16_t)(id % TAIL_BLOCK_ROWS),
		    .count = (uint16_t)(next - id),
		    .is_sample = x->kind == SEG_EXT_SAMPLE,
		    .is_user = x->owner == SEG_USER_ARRAY,
		};
		id = next;
	}
	return 0;
}

static int
add_table(struct tail *t, const struct seg_extent *x)
{
	struct tail_table *more;

	if (charge(t, sizeof(*more) + (size_t)x->count * x->row_bytes) < 0)
		return -EFBIG;
	more = reallocarray(t->tables, t->table_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->tables = more;
	more += t->table_count;
	*more = (struct tail_table){.extent = *x};
	more->written = calloc(x->count, x->row_bytes);
	if (!more->written)
		return -ENOMEM;
	t->table_count++;
	return 0;
}

static int
add_extent(struct tail_look *l, const struct seg_extent *x)
{
	uint64_t bytes = (uint64_t)x->count * x->row_bytes;

	if (x->row_bytes == 0 || x->row_bytes > SEGMENT_MAX_ROW ||
	    x->offset > l->limit || bytes > l->limit - x->offset ||
	    x->first > UINT64_MAX - x->count)
		return -EBADMSG;
	if (x->kind == SEG_EXT_LEDGER || x->kind == SEG_EXT_SAMPLE)
		return add_pieces(l->tail, x);
	if (tables_in_time_line(x->kind))
		return add_table(l->tail, x);
	return 0; /* in the end state only */
}

static int
know_room(struct tail *t, uint32_t used)
{
	uint8_t *known;

	if (used <= t->dir_room)
		return 0;
	known = realloc(t->dir_known, used);
	if (!known)
		return -ENOMEM;
	memset(known + t->dir_room, 0, used - t->dir_room);
	t->dir_known = known;
	t->dir_room = used;
	return 0;
}

/* Does the file contain what the new entries claim, at least in part? */
static int
check_claims(struct tail_look *l, const struct seg_extent *dir,
    const uint8_t *known, uint32_t n)
{
	uint64_t claimed = l->tail->claimed;

	for (uint32_t i = 0; i < n; i++)
		if (!known[i] && dir[i].kind != SEG_EXT_NONE)
			claimed += (uint64_t)dir[i].count * dir[i].row_bytes;
	if (!holes_allow(l->source->fd, l->base, l->limit, claimed))
		return -EBADMSG;
	l->tail->claimed = claimed;
	return 0;
}

int
tail_directory(struct tail_look *l, const struct seg_header *h)
{
	struct tail *t = l->tail;
	uint32_t used =
	    h->dir_used < h->dir_capacity ? h->dir_used : h->dir_capacity;
	struct seg_extent *dir;
	int err;

	if (used <= t->dir_done)
		return 0;
	if (used > SEGMENT_MAX_EXTENTS)
		return -EBADMSG;
	err = know_room(t, used);
	if (err < 0)
		return err;
	dir = calloc(used - t->dir_done, sizeof(*dir));
	if (!dir)
		return -ENOMEM;
	err = tail_read(l, h->dir_offset + (uint64_t)t->dir_done * sizeof(*dir),
	    dir, (used - t->dir_done) * sizeof(*dir));
	if (err == 0)
		err = check_claims(
		    l, dir, t->dir_known + t->dir_done, used - t->dir_done);
	for (uint32_t i = t->dir_done; i < used && err == 0; i++) {
		struct seg_extent *x = &dir[i - t->dir_done];

		if (t->dir_known[i] || x->kind == SEG_EXT_NONE)
			continue;
		if (x->kind == SEG_EXT_STRING && x->row_bytes == 0)
			x->row_bytes = 1;
		err = x->count ? add_extent(l, x) : 0;
		t->dir_known[i] = err == 0;
	}
	free(dir);
	while (t->dir_done < used && t->dir_known[t->dir_done])
		t->dir_done++;
	return err;
}

/* pulse_directory.c - where the rows of a segment's ledger are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/pulse_parts.h"
#include "trace/holes.h"

static int
block_of(struct pulse *p, uint64_t id, struct pulse_block **ret)
{
	size_t n = (size_t)(id >> PULSE_BLOCK_BITS);

	if (n >= p->block_room) {
		size_t room = p->block_room ? p->block_room : 4;
		struct pulse_block *bigger;

		while (room <= n)
			room *= 2;
		if (!pulse_charge(p, (room - p->block_room) * sizeof(*bigger)))
			return -EFBIG;
		bigger = reallocarray(p->blocks, room, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + p->block_room, 0,
		    (room - p->block_room) * sizeof(*bigger));
		p->blocks = bigger;
		p->block_room = room;
	}
	*ret = &p->blocks[n];
	return 0;
}

/* A ledger extent, cut at the borders of blocks. */
static int
add_pieces(struct pulse *p, const struct seg_extent *x)
{
	uint64_t id = x->first, end = x->first + x->count;

	if (end >> SEG_SITE_BITS)
		end = UINT64_C(1) << SEG_SITE_BITS; /* no site is beyond */
	while (id < end) {
		uint64_t next = (id | (PULSE_BLOCK_ROWS - 1)) + 1;
		struct pulse_piece *more;
		struct pulse_block *b;
		int err = block_of(p, id, &b);

		if (err == 0 && !pulse_charge(p, sizeof(*more)))
			err = -EFBIG;
		if (err < 0)
			return err;
		more =
		    reallocarray(b->pieces, b->piece_count + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		b->pieces = more;
		if (next > end)
			next = end;
		more[b->piece_count++] = (struct pulse_piece){
		    .offset = x->offset + (id - x->first) * x->row_bytes,
		    .row_bytes = x->row_bytes,
		    .first = (uint16_t)(id % PULSE_BLOCK_ROWS),
		    .count = (uint16_t)(next - id),
		    .is_pool = x->owner == SEG_USER_ARRAY,
		};
		id = next;
	}
	return 0;
}

static int
add_extent(struct pulse_look *l, const struct seg_extent *x)
{
	uint64_t bytes = (uint64_t)x->count * x->row_bytes;

	if (x->kind != SEG_EXT_LEDGER || x->count == 0)
		return 0;
	if (x->row_bytes < sizeof(struct seg_row) ||
	    x->row_bytes > SEGMENT_MAX_ROW || x->offset > l->limit ||
	    bytes > l->limit - x->offset || x->first > UINT64_MAX - x->count)
		return -EBADMSG;
	/* what does not overlap is no larger than where it lies */
	if (bytes > l->limit - l->pulse->claimed ||
	    l->pulse->claimed + bytes > SEGMENT_MAX_BYTES)
		return -EBADMSG;
	l->pulse->claimed += bytes;
	if (!holes_allow(l->source->fd, l->base, l->limit, l->pulse->claimed))
		return -EBADMSG;
	return add_pieces(l->pulse, x);
}

static int
know_room(struct pulse *p, uint32_t used)
{
	uint8_t *known;

	if (used <= p->dir_room)
		return 0;
	if (!pulse_charge(p, used - p->dir_room))
		return -EFBIG;
	known = realloc(p->dir_known, used);
	if (!known)
		return -ENOMEM;
	memset(known + p->dir_room, 0, used - p->dir_room);
	p->dir_known = known;
	p->dir_room = used;
	return 0;
}

int
pulse_directory(struct pulse_look *l, const struct seg_header *h)
{
	struct pulse *p = l->pulse;
	uint32_t used =
	    h->dir_used < h->dir_capacity ? h->dir_used : h->dir_capacity;
	struct seg_extent *dir;
	int err;

	if (used <= p->dir_done)
		return 0;
	if (used > SEGMENT_MAX_EXTENTS ||
	    h->dir_offset > l->limit) /* else the sum below may wrap */
		return -EBADMSG;
	err = know_room(p, used);
	if (err < 0)
		return err;
	dir = calloc(used - p->dir_done, sizeof(*dir));
	if (!dir)
		return -ENOMEM;
	err =
	    pulse_read(l, h->dir_offset + (uint64_t)p->dir_done * sizeof(*dir),
	        dir, (used - p->dir_done) * sizeof(*dir));
	for (uint32_t i = p->dir_done; i < used && err == 0; i++) {
		const struct seg_extent *x = &dir[i - p->dir_done];

		if (p->dir_known[i] || x->kind == SEG_EXT_NONE)
			continue;
		err = add_extent(l, x);
		p->dir_known[i] = err == 0;
	}
	free(dir);
	while (p->dir_done < used && p->dir_known[p->dir_done])
		p->dir_done++;
	return err;
}

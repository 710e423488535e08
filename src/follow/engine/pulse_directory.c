/* pulse_directory.c - where the rows of a segment's ledger are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "follow/engine/pulse_parts.h"

static int block_of(void *context, size_t n, struct directory_pieces **ret)
{
	struct pulse *p = context;

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
		memset(bigger + p->block_room, 0, (room - p->block_room) * sizeof(*bigger));
		p->blocks = bigger;
		p->block_room = room;
	}
	*ret = &p->blocks[n].pieces;
	return 0;
}

static bool take(void *context, size_t bytes)
{
	return pulse_charge(context, bytes);
}

static bool wants(uint32_t kind)
{
	return kind == SEG_EXT_LEDGER;
}

static int add_extent(void *context, const struct seg_extent *x);

static struct directory_hooks hooks_of(struct pulse *p)
{
	return (struct directory_hooks){
	    .context = p, .take = take, .wants = wants, .add = add_extent};
}

static int add_extent(void *context, const struct seg_extent *x)
{
	const struct directory_hooks hooks = hooks_of(context);

	if (x->row_bytes < sizeof(struct seg_row))
		return -EBADMSG;
	return directory_cut(x, &hooks, block_of);
}

int pulse_directory(struct pulse_look *l, const struct seg_header *h)
{
	const struct directory_hooks hooks = hooks_of(l->pulse);

	return directory_follow(&l->pulse->directory, &l->at, h, &hooks);
}

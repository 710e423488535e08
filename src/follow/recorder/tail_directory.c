/* tail_directory.c - finds the rows of a watched segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "follow/recorder/tail_parts.h"
#include "format/seg_tables.h"

/* Checks the limit before memory is taken for the life of the tail. */
static bool take(void *context, size_t bytes)
{
	struct tail *t = context;

	if (bytes > t->room->bytes)
		return false;
	t->room->bytes -= bytes;
	t->charged += bytes;
	return true;
}

static int block_of(void *context, size_t n, struct directory_pieces **ret)
{
	struct tail *t = context;

	if (n >= t->block_room) {
		size_t room = t->block_room ? t->block_room : 64;
		struct tail_block **bigger;

		while (room <= n)
			room *= 2;
		if (!take(t, (room - t->block_room) * sizeof(struct tail_block *)))
			return -EFBIG;
		bigger = reallocarray(t->blocks, room, sizeof(struct tail_block *));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + t->block_room, 0,
		    (room - t->block_room) * sizeof(struct tail_block *));
		t->blocks = bigger;
		t->block_room = room;
	}
	if (!t->blocks[n]) {
		if (!take(t, sizeof(struct tail_block) + TAIL_BLOCK_COLUMNS))
			return -EFBIG;
		t->blocks[n] = calloc(1, sizeof(struct tail_block));
		if (!t->blocks[n])
			return -ENOMEM;
	}
	*ret = &t->blocks[n]->pieces;
	return 0;
}

static int add_table(struct tail *t, const struct seg_extent *x)
{
	struct tail_table *more;

	if (!take(t, sizeof(*more) + (size_t)x->count * x->row_bytes))
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

static bool has_rows_by_id(uint32_t kind)
{
	return kind == SEG_EXT_LEDGER || kind == SEG_EXT_SAMPLE;
}

/* Everything else is in the end state only. */
static bool wants(uint32_t kind)
{
	return has_rows_by_id(kind) || tables_in_time_line(kind);
}

static int add_extent(void *context, const struct seg_extent *x);

static struct directory_hooks hooks_of(struct tail *t)
{
	return (struct directory_hooks){
	    .context = t, .take = take, .wants = wants, .add = add_extent};
}

static int add_extent(void *context, const struct seg_extent *x)
{
	const struct directory_hooks hooks = hooks_of(context);

	if (!has_rows_by_id(x->kind))
		return add_table(context, x);
	if (x->row_bytes < TAIL_ROW_BYTES)
		return -EBADMSG;
	return directory_cut(x, &hooks, block_of);
}

int tail_directory(struct tail_look *l, const struct seg_header *h)
{
	const struct directory_hooks hooks = hooks_of(l->tail);

	return directory_follow(&l->tail->directory, &l->at, h, &hooks);
}

/* pulse_ledger.c - the ledger of a segment: its totals, and what has changed. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "follow/engine/pulse_parts.h"

#include "base/std.h"
#include "segments/read/steady.h"
#include "kit/data/capped.h"

/* The sums of one block, in the making. */
struct tally {
	struct pulse_sum sums[PULSE_BLOCK_ROWS];
	bool is_pool[PULSE_BLOCK_ROWS];
	uint64_t image[2]; /* of the first and of the second pass */
	int pass;
};

static const struct pulse_sum no_sum;

static bool is_zero(const struct pulse_sum *s)
{
	return (s->allocations | s->allocated_bytes | s->frees | s->freed_bytes) == 0;
}

static bool is_same(const struct pulse_sum *a, const struct pulse_sum *b)
{
	return a->allocations == b->allocations && a->allocated_bytes == b->allocated_bytes &&
	    a->frees == b->frees && a->freed_bytes == b->freed_bytes;
}

/* Four multiplications that do not wait for one another. */
static uint64_t mix(uint64_t image, const struct pulse_sum *row)
{
	const uint64_t a = row->allocations * UINT64_C(0x9e3779b97f4a7c15),
	               b = row->allocated_bytes * UINT64_C(0xc2b2ae3d27d4eb4f),
	               c = row->frees * UINT64_C(0x165667b19e3779f9),
	               d = row->freed_bytes * UINT64_C(0xd6e8feb86659fd93);

	image = (image ^ a ^ (b << 23 | b >> 41)) * UINT64_C(0xff51afd7ed558ccd);
	return image + (c ^ (d << 31 | d >> 33)) + 1;
}

/*
 * The first pass counts everything. In the second one all but the frees are
 * counted again, from the beginning.
 */
static void add_rows(void *context, const struct extent_list_piece *piece, const uint8_t *rows)
{
	struct tally *t = context;
	uint64_t image = t->image[t->pass];

	for (uint32_t i = 0; i < piece->count; i++) {
		struct pulse_sum *s = &t->sums[piece->first + i];
		struct pulse_sum row;

		memcpy(&row, rows + (size_t)i * piece->row_bytes, sizeof(row));
		image = mix(image, &row);
		if (is_zero(&row))
			continue;
		t->is_pool[piece->first + i] |= piece->is_pool && row.allocations > 0;
		s->allocations = capped_sum(s->allocations, row.allocations);
		s->allocated_bytes = capped_sum(s->allocated_bytes, row.allocated_bytes);
		if (t->pass > 0)
			continue;
		s->frees = capped_sum(s->frees, row.frees);
		s->freed_bytes = capped_sum(s->freed_bytes, row.freed_bytes);
	}
	t->image[t->pass] = image;
}

/* Both passes; the second one is not needed where nothing has happened. */
static int read_block(
    const struct pulse_look *l, const struct extent_list_block *d, struct tally *t)
{
	const struct pulse_block *b = d->kept;
	int err;

	memset(t, 0, sizeof(*t));
	err = extent_list_read_block(&l->at, d, false, add_rows, t);
	if (err < 0)
		return err;
	t->image[1] = t->image[0];
	if (b->is_known && t->image[0] == b->image)
		return 0;
	t->image[1] = 0;
	t->pass = 1;
	for (size_t i = 0; i < PULSE_BLOCK_ROWS; i++)
		t->sums[i].allocations = t->sums[i].allocated_bytes = 0;
	return extent_list_read_block(&l->at, d, false, add_rows, t);
}

static int read_steadily(
    const struct pulse_look *l, const struct extent_list_block *b, struct tally *t)
{
	struct steady steady = steady_begin();
	int err;

	do
		err = read_block(l, b, t);
	while (err == 0 && l->at.source->fd >= 0 && steady_was_late(&steady));
	return err;
}

/* Memory for the sites of a block; without room they are not known. */
static struct pulse_sites *sites_of(struct pulse *p, struct pulse_block *b)
{
	if (b->sites || !p->want_sites || !pulse_charge(p, sizeof(*b->sites)))
		return b->sites;
	b->sites = calloc(1, sizeof(*b->sites));
	if (!b->sites)
		pulse_refund(p, sizeof(*b->sites));
	return b->sites;
}

/* Sites of a block for which there was no memory, once. */
static void count_unlisted(struct pulse *p, struct pulse_block *b, const struct tally *t)
{
	size_t used = 0;

	for (size_t i = 0; i < PULSE_BLOCK_ROWS; i++)
		used += !is_zero(&t->sums[i]);
	if (used > b->uncounted) {
		p->unlisted += p->want_sites ? used - b->uncounted : 0;
		p->site_count += used - b->uncounted;
		b->uncounted = used;
	}
}

static void take_sites(
    struct pulse_look *l, struct pulse_block *b, uint32_t first_id, const struct tally *t)
{
	struct pulse_sites *s = sites_of(l->pulse, b);

	if (!s) {
		count_unlisted(l->pulse, b, t);
		return;
	}
	for (uint32_t i = 0; i < PULSE_BLOCK_ROWS; i++) {
		struct pulse_sum was = s->sums[i];

		if (is_same(&was, &t->sums[i]))
			continue;
		l->pulse->site_count += is_zero(&was);
		s->sums[i] = t->sums[i];
		s->is_pool[i] |= t->is_pool[i];
		pulse_move(l, s, first_id + i, &was);
	}
}

static void take_block(
    struct pulse_look *l, struct pulse_block *b, uint32_t first_id, const struct tally *t)
{
	l->changed |= !b->is_known || b->image != t->image[1];
	b->is_known = true;
	b->image = t->image[1];
	b->is_settled = t->image[0] == t->image[1];
	b->total = no_sum;
	for (size_t i = 0; i < PULSE_BLOCK_ROWS; i++) {
		const struct pulse_sum *s = &t->sums[i];

		if (t->is_pool[i])
			continue;
		b->total.allocations = capped_sum(b->total.allocations, s->allocations);
		b->total.allocated_bytes = capped_sum(b->total.allocated_bytes, s->allocated_bytes);
		b->total.frees = capped_sum(b->total.frees, s->frees);
		b->total.freed_bytes = capped_sum(b->total.freed_bytes, s->freed_bytes);
	}
	take_sites(l, b, first_id, t);
}

static bool take(void *context, size_t bytes)
{
	return pulse_charge(context, bytes);
}

static bool wants(uint32_t kind)
{
	return kind == SEG_EXT_LEDGER;
}

int pulse_ledger(struct pulse_look *l, const struct seg_header *h, struct pulse_sum *ret)
{
	struct extent_list *d = &l->pulse->directory;
	const struct extent_list_hooks hooks = {.context = l->pulse,
	    .take = take,
	    .wants = wants,
	    .kept_bytes = sizeof(struct pulse_block)};
	int no_room = extent_list_follow(d, &l->at, h, &hooks);

	*ret = no_sum;
	if (no_room < 0 && no_room != -EFBIG)
		return no_room;
	for (size_t n = 0; n < d->block_room; n++) {
		struct pulse_block *b = d->blocks[n].kept;
		struct tally t;
		int err;

		if (d->blocks[n].count == 0)
			continue;
		err = read_steadily(l, &d->blocks[n], &t);
		if (err < 0)
			return err;
		if (!b->is_known || !b->is_settled || b->image != t.image[1])
			take_block(l, b, (uint32_t)(n << PULSE_BLOCK_BITS), &t);
		ret->allocations = capped_sum(ret->allocations, b->total.allocations);
		ret->allocated_bytes = capped_sum(ret->allocated_bytes, b->total.allocated_bytes);
		ret->frees = capped_sum(ret->frees, b->total.frees);
		ret->freed_bytes = capped_sum(ret->freed_bytes, b->total.freed_bytes);
	}
	return no_room;
}

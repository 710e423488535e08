/* tail_ledger.c - finds what has changed in the ledger of a watched segment. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "segments/read/steady.h"
#include "follow/recorder/tail.h"
#include "format/rows.h"

static void add_frees(void *context, const struct extent_list_piece *p, const uint8_t *rows)
{
	struct tail_look *l = context;

	for (uint32_t i = 0; i < p->count; i++) {
		struct codec_sum *s = &l->sums[p->first + i];
		struct seg_row row;

		memcpy(&row, rows + (size_t)i * p->row_bytes, sizeof(row));
		s->frees += row.frees;
		s->freed_bytes += row.freed_bytes;
	}
}

/* The rows contain the estimates; these columns say how good they are. */
static void add_samples(struct tail_look *l, const struct extent_list_piece *p, const uint8_t *rows)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct codec_sum *s = &l->sums[p->first + i];
		struct seg_sample row = {0};

		memcpy(&row, rows + (size_t)i * p->row_bytes,
		    p->row_bytes < sizeof(row) ? p->row_bytes : sizeof(row));
		s->samples += row.samples;
		s->variance_allocated +=
		    seg_wide_of(row.variance_allocated, row.variance_allocated_high);
		s->variance_freed += seg_wide_of(row.variance_freed, row.variance_freed_high);
		l->samples |= row.samples > 0;
	}
}

static void add_rest(void *context, const struct extent_list_piece *p, const uint8_t *rows)
{
	struct tail_look *l = context;

	if (p->is_sample) {
		add_samples(l, p, rows);
		return;
	}
	for (uint32_t i = 0; i < p->count; i++) {
		struct codec_sum *s = &l->sums[p->first + i];
		struct rows_share peak;
		struct seg_row row;

		memcpy(&row, rows + (size_t)i * p->row_bytes, sizeof(row));
		s->allocations += row.allocations;
		s->allocated_bytes += row.allocated_bytes;
		l->is_user[p->first + i] |= p->is_pool && row.allocations > 0;
		peak = rows_at_peak(&row, l->epoch);
		s->peak_bytes = (int64_t)((uint64_t)s->peak_bytes + (uint64_t)peak.bytes);
		s->peak_blocks = (int64_t)((uint64_t)s->peak_blocks + (uint64_t)peak.blocks);
	}
}

static bool is_same(const struct codec_sum *was, const struct codec_sum *is, bool new_peak)
{
	if (was->allocations != is->allocations || was->allocated_bytes != is->allocated_bytes ||
	    was->frees != is->frees || was->freed_bytes != is->freed_bytes ||
	    was->samples != is->samples || was->variance_allocated != is->variance_allocated ||
	    was->variance_freed != is->variance_freed)
		return false;
	if (new_peak)
		return is->peak_bytes == (int64_t)(is->allocated_bytes - is->freed_bytes) &&
		    is->peak_blocks == (int64_t)(is->allocations - is->frees);
	return was->peak_bytes == is->peak_bytes && was->peak_blocks == is->peak_blocks;
}

static void tell_row(
    struct tail_look *l, uint64_t id, const struct codec_sum *was, const struct codec_sum *is)
{
	struct codec_out *column = l->tail->column;
	int64_t value[CODEC_COLUMNS], samples[CODEC_WIDE_COLUMNS];

	codec_encode(was, is, l->new_peak, value);
	codec_put(&column[0], id - l->last_id);
	for (int i = 0; i < CODEC_COLUMNS; i++)
		codec_put_signed(&column[i + 1], value[i]);
	codec_encode_samples(was, is, samples);
	for (int i = 0; i < CODEC_WIDE_COLUMNS; i++)
		codec_put_signed(&column[CODEC_COLUMNS + 1 + i], samples[i]);
	l->wide |= samples[3] != 0 || samples[4] != 0;
	l->last_id = id;
	l->changed++;
}

static void add_totals(struct codec_sum *totals, const struct codec_sum *s)
{
	totals->allocations += s->allocations;
	totals->allocated_bytes += s->allocated_bytes;
	totals->frees += s->frees;
	totals->freed_bytes += s->freed_bytes;
}

/* First frees, in a second pass the rest. */
static int sum_block(struct tail_look *l, const struct extent_list_block *b)
{
	int err;

	memset(l->sums, 0, sizeof(l->sums));
	memset(l->is_user, 0, sizeof(l->is_user));
	err = extent_list_read_block(&l->at, b, false, add_frees, l);
	return err < 0 ? err : extent_list_read_block(&l->at, b, true, add_rest, l);
}

static int look_at_block(struct tail_look *l, const struct extent_list_block *b)
{
	struct steady steady = steady_begin();
	int err;

	do
		err = sum_block(l, b);
	while (err == 0 && l->at.source->fd >= 0 && steady_was_late(&steady));
	return err;
}

int tail_ledger(struct tail_look *l)
{
	const struct extent_list *d = &l->tail->directory;

	for (size_t n = 0; n < d->block_room; n++) {
		struct tail_block *b = d->blocks[n].kept;
		int err;

		if (!b)
			continue;
		err = look_at_block(l, &d->blocks[n]);
		if (err < 0)
			return err;
		for (size_t i = 0; i < TAIL_BLOCK_ROWS; i++) {
			struct codec_sum *was = &b->written[i];

			if (!l->is_user[i])
				add_totals(&l->totals, &l->sums[i]);
			if (!l->rows || is_same(was, &l->sums[i], l->new_peak)) {
				if (l->rows && l->new_peak)
					codec_new_peak(was);
				continue;
			}
			l->tail->sites += was->allocations == 0 && was->frees == 0;
			tell_row(l, (n << TAIL_BLOCK_BITS) + i, was, &l->sums[i]);
			*was = l->sums[i];
		}
	}
	return 0;
}

void tail_put_totals(struct tail *t, const struct codec_sum *now, struct codec_out *out)
{
	struct codec_out body = {0};
	struct codec_sum *was = &t->totals;

	if (now->allocations == was->allocations && now->allocated_bytes == was->allocated_bytes &&
	    now->frees == was->frees && now->freed_bytes == was->freed_bytes)
		return;
	codec_put(&body, t->number);
	codec_put_signed(&body, (int64_t)(now->allocations - was->allocations));
	codec_put_signed(&body, (int64_t)(now->allocated_bytes - was->allocated_bytes));
	codec_put_signed(&body, (int64_t)(now->frees - was->frees));
	codec_put_signed(&body, (int64_t)(now->freed_bytes - was->freed_bytes));
	codec_put_item(out, CODEC_TOTALS, &body);
	codec_release(&body);
	*was = *now;
}

void tail_put_ledger(struct tail_look *l, struct codec_out *out)
{
	struct codec_out *column = l->tail->column;
	struct codec_out body = {0};
	uint32_t flags = 0;
	int columns = CODEC_COLUMNS + 1;

	if (l->changed == 0 && !l->new_peak)
		return;
	flags |= l->new_peak ? CODEC_NEW_PEAK : 0;
	flags |= l->samples ? CODEC_SAMPLES : 0;
	flags |= l->samples && l->wide ? CODEC_WIDE : 0;
	columns += codec_sample_columns(flags);
	codec_put(&body, l->tail->number);
	codec_put(&body, flags);
	codec_put(&body, l->changed);
	for (int i = 0; i < columns; i++) {
		body.failed |= column[i].failed;
		codec_put_bytes(&body, column[i].bytes, column[i].len);
	}
	codec_put_item(out, CODEC_LEDGER, &body);
	codec_release(&body);
}

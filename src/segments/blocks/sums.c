/* sums.c - sums up the ledger's arrays by site id. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/blocks/live_map.h"

#include "format/rows.h"
#include "kit/data/room.h"
#include "kit/data/capped.h"
#include "kit/data/sorted.h"

static seg_wide plus_wide(seg_wide a, seg_wide b)
{
	return a > ~b ? ~(seg_wide)0 : a + b;
}

static bool same_id(const void *items, uint32_t item, const void *key)
{
	return ((const struct sum_row *)items)[item].id == *(const uint32_t *)key;
}

struct sum_row *sums_at(struct sums *l, uint32_t id)
{
	uint32_t at;

	if (room_make(&l->items, &l->room, l->count, sizeof(*l->items)) < 0)
		return NULL;
	if (dict_find(&l->index, dict_hash(id, 5, 6), same_id, l->items, &id, (uint32_t)l->count,
	        &at) < 0)
		return NULL;
	if (at == l->count)
		l->items[l->count++] = (struct sum_row){.id = id};
	return &l->items[at];
}

static void add_row(struct sum_row *sum, const struct seg_row *row, uint32_t epoch)
{
	uint64_t max = (uint64_t)row->size_min + row->size_span;
	struct rows_share peak = rows_at_peak(row, epoch);

	sum->peak_bytes = capped_sum_signed(sum->peak_bytes, peak.bytes);
	sum->peak_blocks = capped_sum_signed(sum->peak_blocks, peak.blocks);
	if (row->allocations > 0) {
		if (sum->allocations == 0 || row->size_min < sum->size_min)
			sum->size_min = row->size_min;
		if (max > sum->size_max)
			sum->size_max = max;
		if (row->last_tick > sum->last_tick)
			sum->last_tick = row->last_tick;
	}
	sum->allocations = capped_sum(sum->allocations, row->allocations);
	sum->allocated_bytes = capped_sum(sum->allocated_bytes, row->allocated_bytes);
	sum->frees = capped_sum(sum->frees, row->frees);
	sum->freed_bytes = capped_sum(sum->freed_bytes, row->freed_bytes);
	sum->live_bytes += row->allocated_bytes - row->freed_bytes;
}

/*
 * The bytes of a row have 64 bits. A program that allocates and frees huge
 * blocks without touching them makes them wrap within hours. If the number of
 * blocks shows that, the sums are shown as the largest number. The live bytes
 * are still known, because both sums wrapped alike.
 */
static void settle_bytes(struct sum_row *sum)
{
	const uint64_t largest = sum->size_max < UINT32_MAX
	    ? sum->size_max
	    : UINT64_MAX; /* sizes from 2^32 - 1 on are not in the row */
	const bool may = (seg_wide)sum->allocations * largest > UINT64_MAX;
	const bool must = (seg_wide)sum->allocations * sum->size_min > UINT64_MAX;

	if (!must &&
	    !(may && sum->frees <= sum->allocations && sum->freed_bytes > sum->allocated_bytes))
		return;
	if ((int64_t)sum->live_bytes < 0)
		return; /* impossible; cross_check.c reports it */
	sum->allocated_bytes = UINT64_MAX;
	sum->freed_bytes = UINT64_MAX - sum->live_bytes;
}

/* In sampled mode the rows contain estimates, and this is their variance. */
static void add_sample(struct sum_row *sum, const struct seg_sample *row)
{
	sum->samples = capped_sum(sum->samples, row->samples);
	sum->sampled_frees = capped_sum(sum->sampled_frees, row->sampled_frees);
	sum->variance_allocated = plus_wide(sum->variance_allocated,
	    seg_wide_of(row->variance_allocated, row->variance_allocated_high));
	sum->variance_freed = plus_wide(
	    sum->variance_freed, seg_wide_of(row->variance_freed, row->variance_freed_high));
}

static bool is_idle(const struct seg_row *row)
{
	return row->allocations == 0 && row->allocated_bytes == 0 && row->frees == 0 &&
	    row->freed_bytes == 0;
}

static int sum_rows(const struct segment *seg, const struct segment_rows *x, struct sums *sums)
{
	for (uint32_t i = 0; i < x->count; i++) {
		uint64_t id = x->first + i;
		struct sum_row *sum;

		if (id >> SEG_SITE_BITS)
			break; /* no site can have this id */
		if (x->kind == SEG_EXT_LEDGER) {
			struct seg_row row;

			memcpy(&row, segment_copy_row(x, i), sizeof(row));
			if (is_idle(&row))
				continue;
			sum = sums_at(sums, (uint32_t)id);
			if (!sum)
				return -ENOMEM;
			add_row(sum, &row, (uint32_t)seg->header.peak_epoch);
		} else {
			struct seg_sample row;

			(void)segment_copy_row_into(x, i, &row, sizeof(row));
			if (row.samples == 0 && row.sampled_frees == 0)
				continue;
			sum = sums_at(sums, (uint32_t)id);
			if (!sum)
				return -ENOMEM;
			add_sample(sum, &row);
		}
	}
	return 0;
}

BY(by_id, struct sum_row, UP(id))

void sums_sort(struct sums *l)
{
	if (l->count > 0)
		qsort(l->items, l->count, sizeof(*l->items), by_id);
}

int sums_init(struct sums *l, const struct segment *seg)
{
	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];
		int err;

		if (x->kind != SEG_EXT_LEDGER && x->kind != SEG_EXT_SAMPLE)
			continue;
		err = sum_rows(seg, x, l);
		if (err < 0)
			return err;
	}
	for (size_t i = 0; i < l->count; i++)
		settle_bytes(&l->items[i]);
	sums_sort(l);
	return 0;
}

void sums_release(struct sums *l)
{
	dict_release(&l->index);
	free(l->items);
	*l = (struct sums){0};
}

/* playback_segment.c - makes a segment from a process of the time line. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "session/timeline/playback.h"

#include "base/std.h"
#include "format/seg_tables.h"

enum {
	SPARSE_FACTOR = 4, /* a table more sparse than that stays in pieces */
	SPARSE_BYTES = 1 << 20,
};

typedef void fill_fn(void *row, const struct codec_sum *sum, const struct seg_header *h);

static void fill_ledger(void *row, const struct codec_sum *sum, const struct seg_header *h)
{
	struct seg_row r = {
	    .allocations = sum->allocations,
	    .allocated_bytes = sum->allocated_bytes,
	    .frees = sum->frees,
	    .freed_bytes = sum->freed_bytes,
	    .snap_bytes = sum->peak_bytes,
	    .snap_blocks = sum->peak_blocks,
	    .epoch = (uint32_t)h->peak_epoch,
	};

	memcpy(row, &r, sizeof(r));
}

static void fill_sample(void *row, const struct codec_sum *sum, const struct seg_header *h)
{
	struct seg_sample r = {
	    .samples = sum->samples,
	    .variance_allocated = (uint64_t)sum->variance_allocated,
	    .variance_freed = (uint64_t)sum->variance_freed,
	    .variance_allocated_high = (uint64_t)(sum->variance_allocated >> 64),
	    .variance_freed_high = (uint64_t)(sum->variance_freed >> 64),
	};

	(void)h;
	memcpy(row, &r, sizeof(r));
}

/* One extent of rows for each block of sums that is in use. */
static int add_sums(const struct playback_process *p, struct segment *seg, enum seg_kind kind,
    uint32_t row_bytes, fill_fn *fill)
{
	const struct playback_state *s = p->state;

	for (size_t n = 0; n < s->block_room; n++) {
		struct seg_extent x = {.kind = kind,
		    .row_bytes = row_bytes,
		    .first = n << PLAYBACK_BLOCK_BITS,
		    .count = PLAYBACK_BLOCK_ROWS};
		struct segment_rows *rows;

		if (!s->blocks[n])
			continue;
		rows = segment_copy_add(seg, &x);
		if (!rows)
			return -ENOMEM;
		for (size_t i = 0; i < PLAYBACK_BLOCK_ROWS; i++)
			fill(rows->rows + i * row_bytes, &s->blocks[n]->rows[i], &seg->header);
	}
	return 0;
}

static int add_piece(struct segment *seg, const struct playback_patch *patch)
{
	struct seg_extent x = {.kind = patch->kind,
	    .row_bytes = patch->row_bytes,
	    .first = patch->first,
	    .count = patch->count};
	struct segment_rows *rows = segment_copy_add(seg, &x);

	if (!rows)
		return -ENOMEM;
	memcpy(rows->rows, patch->rows, (size_t)patch->count * patch->row_bytes);
	return 0;
}

/* All patches of a kind in one extent; later ones overwrite earlier ones. */
static int add_table(
    const struct playback_state *s, struct segment *seg, uint32_t kind, uint32_t row_bytes)
{
	uint64_t low = UINT64_MAX, high = 0, bytes = 0;
	struct seg_extent x = {.kind = kind, .row_bytes = row_bytes};
	struct segment_rows *rows;

	for (size_t i = 0; i < s->patch_count; i++) {
		const struct playback_patch *q = &s->patches[i];

		if (q->kind != kind || q->row_bytes != row_bytes)
			continue;
		low = q->first < low ? q->first : low;
		high = q->first + q->count > high ? q->first + q->count : high;
		bytes += (uint64_t)q->count * row_bytes;
	}
	if (high <= low)
		return 0;
	if (high - low > UINT32_MAX ||
	    (high - low) > (bytes * SPARSE_FACTOR + SPARSE_BYTES) / row_bytes) {
		for (size_t i = 0; i < s->patch_count; i++)
			if (s->patches[i].kind == kind && s->patches[i].row_bytes == row_bytes &&
			    add_piece(seg, &s->patches[i]) < 0)
				return -ENOMEM;
		return 0;
	}
	x.first = low;
	x.count = (uint32_t)(high - low);
	rows = segment_copy_add(seg, &x);
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->patch_count; i++) {
		const struct playback_patch *q = &s->patches[i];

		if (q->kind == kind && q->row_bytes == row_bytes)
			memcpy(rows->rows + (q->first - low) * row_bytes, q->rows,
			    (size_t)q->count * row_bytes);
	}
	return 0;
}

int playback_segment(const struct playback_process *p, struct segment **ret)
{
	struct segment *seg;
	int err;

	if (p->header.magic != SEG_MAGIC)
		return -ENODATA;
	seg = calloc(1, sizeof(*seg));
	if (!seg)
		return -ENOMEM;
	seg->header = p->header;
	seg->peak_stable = true;
	err = add_sums(p, seg, SEG_EXT_LEDGER, sizeof(struct seg_row), fill_ledger);
	if (err == 0 && p->header.sample_bytes > 0)
		err = add_sums(p, seg, SEG_EXT_SAMPLE, sizeof(struct seg_sample), fill_sample);
	for (uint32_t i = 0; i < TABLES_COUNT && err == 0; i++)
		if (tables_in_time_line(tables_kind(i)))
			err = add_table(
			    p->state, seg, tables_kind(i), tables_row_min(tables_kind(i)));
	if (err < 0) {
		segment_copy_free(seg);
		return err;
	}
	*ret = seg;
	return 0;
}

/* segment_copy_compact.c - writes a segment as bytes: snapshots, recordings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/segment_copy.h"

#include "format/rows.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"

struct run {
	const struct segment_rows *rows;
	uint32_t first, count;
};

/* The next run of rows in use at or after *at; false: there is none left. */
static bool next_run(const struct segment_rows *x, uint32_t *at, struct run *ret)
{
	uint32_t i = *at;

	while (i < x->count && rows_is_zero(segment_copy_row(x, i), x->row_bytes))
		i++;
	if (i == x->count)
		return false;
	*at = rows_end_of_run(x->rows, x->count, x->row_bytes, i);
	*ret = (struct run){.rows = x, .first = i, .count = *at - i};
	return true;
}

static size_t run_bytes(const struct run *r)
{
	return ((size_t)r->count * r->rows->row_bytes + 7) & ~(size_t)7;
}

/* Runs of all extents; whole extents if the directory would get too large. */
static int find_runs(const struct segment *seg, struct run **ret, size_t *ret_count)
{
	struct run *runs = NULL;
	size_t n = 0, room = 0;

	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];
		uint32_t at = 0;
		struct run run;

		while (next_run(x, &at, &run)) {
			if (n + (seg->extent_count - i) >= SEGMENT_MAX_EXTENTS) {
				run.count = x->count - run.first;
				at = x->count;
			}
			if (room_make(&runs, &room, n, sizeof(*runs)) < 0) {
				free(runs);
				return -ENOMEM;
			}
			runs[n++] = run;
		}
	}
	*ret = runs;
	*ret_count = n;
	return 0;
}

int segment_copy_compact(const struct segment *seg, void **ret, size_t *ret_len)
{
	struct seg_header h = seg->header;
	struct run *runs = NULL;
	size_t n = 0, len;
	uint64_t offset;
	uint8_t *bytes;
	int err;

	err = find_runs(seg, &runs, &n);
	if (err < 0)
		return err;
	len = sizeof(h) + n * sizeof(struct seg_extent);
	offset = len;
	for (size_t i = 0; i < n; i++)
		len += run_bytes(&runs[i]);
	bytes = calloc(1, len);
	if (!bytes) {
		free(runs);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct segment_rows *x = runs[i].rows;
		struct seg_extent entry = {
		    .kind = x->kind,
		    .owner = x->owner,
		    .row_bytes = x->row_bytes,
		    .count = runs[i].count,
		    .first = x->first + runs[i].first,
		    .offset = offset,
		};

		memcpy(bytes + sizeof(h) + i * sizeof(entry), &entry, sizeof(entry));
		memcpy(bytes + offset, segment_copy_row(x, runs[i].first),
		    (size_t)entry.count * entry.row_bytes);
		offset += run_bytes(&runs[i]);
	}
	h.header_bytes = SEG_HEADER_BYTES;
	h.total_bytes = len;
	h.used_bytes = len;
	h.dir_offset = sizeof(h);
	h.dir_capacity = (uint32_t)n;
	h.dir_used = (uint32_t)n;
	h.slots_offset = 0;
	h.slot_bytes = 0;
	h.slot_count = 0;
	h.slot_index = ~UINT32_C(0);
	h.peak_flags = seg->peak_stable ? 0 : SEG_PEAK_MOVED;
	memcpy(bytes, &h, sizeof(h));
	free(runs);
	*ret = bytes;
	*ret_len = len;
	return 0;
}

int segment_copy_mark_snapshot(struct segment *seg, const char *label)
{
	struct seg_extent x = {.kind = SEG_EXT_MARK, .count = 1};
	struct seg_mark mark = {.kind = SEG_MARK_SNAPSHOT};
	struct segment_rows *rows;

	x.row_bytes = sizeof(mark);
	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *r = &seg->extents[i];

		if (r->kind != SEG_EXT_MARK)
			continue;
		if (r->first + r->count > x.first)
			x.first = r->first + r->count;
		for (uint32_t k = 0; k < r->count; k++) {
			struct seg_mark old;

			memcpy(&old, segment_copy_row(r, k), sizeof(old));
			if (old.sequence > mark.sequence)
				mark.sequence = old.sequence;
		}
	}
	mark.sequence++;
	mark.tick = seg->header.tick;
	if (label) {
		strncpy(mark.label, label, sizeof(mark.label) - 1);
		strncpy(seg->header.snapshot_label, label, sizeof(seg->header.snapshot_label) - 1);
	}
	seg->header.snapshot_reason = SEG_SNAPSHOT_COMMAND;
	seg->header.snapshot_realtime_ns = clock_ns(CLOCK_REALTIME);
	rows = segment_copy_add(seg, &x);
	if (!rows)
		return -ENOMEM;
	memcpy(rows->rows, &mark, sizeof(mark));
	return 0;
}

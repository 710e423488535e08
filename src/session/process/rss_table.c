/* rss_table.c - an account of resident memory as a table of a snapshot. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/rss_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of rss_account_encode(), in rows; the last one ends with zeros. */
enum { ROW = RESIDENCE_ROW_BYTES, BYTES_MAX = 256 << 20 };

int rss_table_put(struct segment *seg, const struct residence *r)
{
	struct seg_extent x = {.kind = RESIDENCE_TABLE, .row_bytes = ROW};
	struct segment_rows *rows;
	uint8_t *bytes;
	size_t len;
	int err = rss_account_encode(r, &bytes, &len);

	if (err < 0)
		return err;
	x.count = (uint32_t)((len + ROW - 1) / ROW);
	rows = segment_copy_add(seg, &x);
	if (rows)
		memcpy(rows->rows, bytes, len);
	free(bytes);
	return rows ? 0 : -ENOMEM;
}

/* Compact segments leave out rows of zeros, so there may be several extents. */
static size_t bytes_of(const struct segment *seg)
{
	uint64_t end = 0;

	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != RESIDENCE_TABLE || x->row_bytes != ROW || x->first > BYTES_MAX / ROW)
			continue;
		if (end < x->first + x->count)
			end = x->first + x->count;
	}
	return end <= BYTES_MAX / ROW ? (size_t)end * ROW : 0;
}

int rss_table_take(const struct segment *seg, struct residence *ret)
{
	size_t len = bytes_of(seg);
	uint8_t *bytes;
	int err;

	if (len == 0)
		return -ENODATA;
	bytes = calloc(1, len);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind == RESIDENCE_TABLE && x->row_bytes == ROW &&
		    x->first <= BYTES_MAX / ROW)
			memcpy(bytes + (size_t)x->first * ROW, x->rows, (size_t)x->count * ROW);
	}
	err = rss_account_decode(bytes, len, ret);
	free(bytes);
	return err;
}

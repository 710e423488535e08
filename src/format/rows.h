/* rows.h - the rules of rows that the writer and the readers agree on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ROWS_H
#define SEEP_ROWS_H

#include <stdbool.h>
#include <string.h>

#include "format/format.h"

/* ---- a row of the ledger that changes while it is read ---- */

/*
 * A ledger that is being written is read twice: all rows of some ids, then the
 * same rows again. Frees are taken from the first pass, everything else from
 * the second. A free that the first pass saw has its allocation stored before
 * it, so the second pass sees that one: over all arrays, live blocks are never
 * negative. `row` has the first pass, and then the result.
 */
static inline void rows_read_again(struct seg_row *row, const struct seg_row *again)
{
	uint64_t frees = row->frees, freed_bytes = row->freed_bytes;

	*row = *again;
	row->frees = frees;
	row->freed_bytes = freed_bytes;
}

/* ---- the peak ---- */

struct rows_share {
	int64_t bytes, blocks;
};

/*
 * The row's current value. It may be negative in a single row, because blocks
 * cross threads.
 */
static inline struct rows_share rows_live(const struct seg_row *row)
{
	return (struct rows_share){.bytes = (int64_t)(row->allocated_bytes - row->freed_bytes),
	    .blocks = (int64_t)(row->allocations - row->frees)};
}

/*
 * The row's share of the peak. An epoch begins with each new peak; the first
 * change of a row in an epoch saves what it had until then (ledger_touch() of
 * the collector). So a row of an older epoch has not changed since the peak.
 * epoch: the low 32 bits of header.peak_epoch.
 */
static inline struct rows_share rows_at_peak(const struct seg_row *row, uint32_t epoch)
{
	if (row->epoch != epoch)
		return rows_live(row);
	return (struct rows_share){.bytes = row->snap_bytes, .blocks = row->snap_blocks};
}

/* ---- the rows in use ---- */

/*
 * Copies leave out runs of zeros that are longer than this, because a directory
 * entry for another run takes less room.
 */
enum { ROWS_GAP_BYTES = 256 };

/* len > 0. */
static inline bool rows_is_zero(const uint8_t *row, size_t len)
{
	return row[0] == 0 && memcmp(row, row + 1, len - 1) == 0;
}

/*
 * The end of the run that begins with row i, which is in use: ROWS_GAP_BYTES of
 * zeros follow, or the table ends. Shorter gaps are part of a run.
 */
static inline uint32_t rows_end_of_run(
    const uint8_t *rows, uint32_t count, uint32_t row_bytes, uint32_t i)
{
	uint32_t gap = ROWS_GAP_BYTES / row_bytes + 1;
	uint32_t end = i + 1, zeros = 0;

	for (i = end; i < count && zeros < gap; i++) {
		if (rows_is_zero(rows + (size_t)i * row_bytes, row_bytes)) {
			zeros++;
		} else {
			zeros = 0;
			end = i + 1;
		}
	}
	return end;
}

#endif

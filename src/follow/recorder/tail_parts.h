/* tail_parts.h - what the files of tail.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TAIL_PARTS_H
#define SEEP_TAIL_PARTS_H

#include "segments/read/directory.h"
#include "follow/recorder/tail.h"

enum {
	TAIL_BLOCK_BITS = DIRECTORY_BLOCK_BITS,
	TAIL_BLOCK_ROWS = DIRECTORY_BLOCK_ROWS,
	TAIL_BLOCK_COLUMNS = TAIL_BLOCK_ROWS * 64, /* rows of a block as written */
	TAIL_HEADER_WORDS = SEG_HEADER_BYTES / 8,
};

/* What is kept of a block of ids. */
struct tail_block {
	struct codec_sum written[TAIL_BLOCK_ROWS];
};

/* An extent of a table that only grows, or whose rows may change. */
struct tail_table {
	struct seg_extent extent;
	uint8_t *written; /* NULL: full and written; it will not change */
};

struct tail {
	struct tail_room *room;
	size_t charged; /* of that room */
	uint64_t number;
	bool begun; /* CODEC_PROCESS is put */
	uint64_t header[TAIL_HEADER_WORDS];
	struct directory directory;
	struct tail_table *tables;
	size_t table_count;
	size_t sites;
	uint64_t module_changes;
	uint32_t peak_epoch;
	struct codec_sum totals;                    /* values that were written last */
	struct codec_out column[CODEC_ALL_COLUMNS]; /* ids first, samples last */
	uint8_t *buffer;
	size_t buffer_bytes;
};

/* One look at the segment. */
struct tail_look {
	struct tail *tail;
	struct directory_place at;
	bool rows;
	bool new_peak;
	uint32_t epoch;
	struct codec_sum totals;
	uint64_t changed;
	uint64_t last_id;
	bool samples; /* some row has columns about samples */
	bool wide;    /* and variances that need 128 bits */
	/* of the block read last: */
	struct codec_sum sums[TAIL_BLOCK_ROWS];
	bool is_user[TAIL_BLOCK_ROWS];
};

/*
 * Sums up all ids over all arrays: totals and, if rows are wanted, the columns
 * of rows that have changed. Then writes these as items of the time line.
 */
int tail_ledger(struct tail_look *l);
void tail_put_totals(struct tail *t, const struct codec_sum *now, struct codec_out *out);
void tail_put_ledger(struct tail_look *l, struct codec_out *out);

#endif

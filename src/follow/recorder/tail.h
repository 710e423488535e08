/* tail.h - watches a segment: what is new since the last look. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TAIL_H
#define SEEP_TAIL_H

#include "recording/file/codec.h"
#include "segments/read/extent_list.h"
#include "segments/read/segfile.h"

/*
 * Remembers the sums of each site and the rows of each table that were written
 * last, so that a look costs little more than reading the ledger. The segment
 * is trusted no more than anywhere in the reader. Memory: about 56 bytes per
 * site and array extent, and the unfinished ends of the tables.
 */
struct tail;

/*
 * The bytes that all tails which share it may still use. It must outlive them.
 */
struct tail_room {
	size_t bytes;
};

/* `number` is the number of the process in the items. -ENOMEM. */
int tail_new(uint64_t number, struct tail_room *room, struct tail **ret);
void tail_free(struct tail *t);

/*
 * Looks at the segment in this slot and appends what is new as items: always
 * the totals, if they changed; with `rows` also header, ledger and tables.
 * Frees are read before allocations, as segment_copy_read() does. *ret_header is the
 * header that was read. Negative errno: some of the items may be missing, so
 * the caller drops them and the tail. -EFBIG: there is no room left for it.
 */
int tail_look(struct tail *t, const struct segfile *f, int slot, bool rows, struct codec_out *out,
    struct seg_header *ret_header);

/* Number of site ids seen so far. */
size_t tail_sites(const struct tail *t);

/* Rises if modules were added or have changed. */
uint64_t tail_module_changes(const struct tail *t);

/* Calls `each` for every module that has a path, as written last. */
void tail_modules(const struct tail *t,
    void (*each)(void *context, const struct seg_module *row, const char *path), void *context);

/* ---- tail_parts: what the files of tail.h share ---- */

enum {
	TAIL_BLOCK_BITS = ID_GROUP_BITS,
	TAIL_BLOCK_ROWS = ID_GROUP_ROWS,
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
	struct extent_list directory;
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
	struct extent_list_place at;
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

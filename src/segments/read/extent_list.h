/* extent_list.h - follows the extent directory of a segment while it grows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXTENT_LIST_H
#define SEEP_EXTENT_LIST_H

#include "segments/read/segfile.h"
#include "segments/read/segment_copy.h"

/*
 * For readers that look at a segment again and again (follow/engine/pulse,
 * follow/recorder/tail). What the segment says is untrusted.
 */

/* The segment in its source. */
struct extent_list_place {
	const struct source *source;
	uint64_t base, limit;
};

/* -EBADMSG: it is not inside the segment; or an error of reading. */
int extent_list_read(const struct extent_list_place *at, uint64_t offset, void *to, size_t len);

/* ---- rows by id ---- */

enum {
	ID_GROUP_BITS = 7, /* ids of one ledger extent of the collector */
	ID_GROUP_ROWS = 1 << ID_GROUP_BITS,
	DIRECTORY_ROW_BYTES = 64, /* what a ledger row or a sample has at least */
};
_Static_assert(sizeof(struct seg_row) == DIRECTORY_ROW_BYTES &&
        (int)SEG_SAMPLE_OLD_BYTES == (int)DIRECTORY_ROW_BYTES,
    "one bound serves both");

/* A stretch of one array's rows, all in one block of ids. */
struct extent_list_piece {
	uint64_t offset;
	uint32_t row_bytes;
	uint16_t first, count; /* in the block */
	bool is_sample;
	bool is_pool; /* of seep_alloc(), or mappings: not in totals */
};

/* A block of ids: its pieces, one for each array that has them. */
struct extent_list_block {
	struct extent_list_piece *pieces;
	size_t count;
	void *kept; /* what the reader keeps of it, zeros at first; NULL: no such block */
};

/*
 * Calls `each` with the rows of each piece, those of samples only if they are
 * wanted. -ENOMEM, or as of extent_list_read().
 */
int extent_list_read_block(const struct extent_list_place *at, const struct extent_list_block *b,
    bool with_samples,
    void (*each)(void *context, const struct extent_list_piece *p, const uint8_t *rows),
    void *context);

/* ---- the directory ---- */

/* What was read so far. Zeros at first; extent_list_release() at the end. */
struct extent_list {
	uint64_t claimed; /* bytes of rows of the kinds that are wanted */
	uint32_t done;    /* entries before are all known */
	uint8_t *known;   /* by number of the entry */
	uint32_t room;
	struct extent_list_block *blocks; /* by id >> ID_GROUP_BITS */
	size_t block_room;
};

struct extent_list_hooks {
	void *context;
	/* memory for the life of the reader; false: there is no room for it */
	bool (*take)(void *context, size_t bytes);
	bool (*wants)(uint32_t kind);
	/* an extent without rows by id, inside the segment; called once for each */
	int (*add)(void *context, const struct seg_extent *x);
	size_t kept_bytes;   /* of each block */
	size_t beside_bytes; /* what the reader needs for a block beside that */
};

/*
 * Cuts the new extents of rows by id at the borders of blocks, and calls `add`
 * for the others. Entries become valid in any order, so
 * incomplete ones are read again the next time. All that is claimed is not more
 * than the segment has, and its file contains it at least in part. -EFBIG: no
 * room; -EBADMSG, -ENOMEM, errors of reading, or what `add` returned.
 */
int extent_list_follow(struct extent_list *d, const struct extent_list_place *at,
    const struct seg_header *h, const struct extent_list_hooks *hooks);

void extent_list_release(struct extent_list *d);

/* ---- extents: finds row i of one kind in the extents of a segment ---- */

/* The extents of one kind, sorted by first row. Borrows from the segment. */
struct extents {
	const struct segment_rows **extents;
	uint64_t *before; /* for each extent: number of rows before it */
	size_t count;
	uint64_t total; /* rows */
};

/* -ENOMEM. */
int extents_init(struct extents *r, const struct segment *seg, uint32_t kind);
void extents_release(struct extents *r);

/* Copies the row into a struct of size bytes; false: there is no such row. */
bool extents_get(const struct extents *r, uint64_t i, void *row, size_t size);

/*
 * The same for a table whose rows have become longer. Fields that a shorter row
 * does not have are zero. Returns how many bytes the row has; 0: there is no
 * such row.
 */
size_t extents_take(const struct extents *r, uint64_t i, void *row, size_t size);

/*
 * As extents_get(), and *ret_position is the position of the row among all
 * rows. It is below r->total, which never exceeds the number of bytes in the
 * segment.
 */
bool extents_find(
    const struct extents *r, uint64_t i, void *row, size_t size, uint64_t *ret_position);

#endif

/* directory.h - follows the extent directory of a segment while it grows. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DIRECTORY_H
#define SEEP_DIRECTORY_H

#include "segments/read/segfile.h"

/*
 * For readers that look at a segment again and again (follow/engine/pulse,
 * follow/recorder/tail). What the segment says is untrusted.
 */

/* The segment in its source. */
struct directory_place {
	const struct source *source;
	uint64_t base, limit;
};

/* -EBADMSG: it is not inside the segment; or an error of reading. */
int directory_read(const struct directory_place *at, uint64_t offset, void *to, size_t len);

/* What was read so far. Zeros at first; directory_release() at the end. */
struct directory {
	uint64_t claimed; /* bytes of rows of the kinds that are wanted */
	uint32_t done;    /* entries before are all known */
	uint8_t *known;   /* by number of the entry */
	uint32_t room;
};

struct directory_hooks {
	void *context;
	/* memory for the life of the reader; false: there is no room for it */
	bool (*take)(void *context, size_t bytes);
	bool (*wants)(uint32_t kind);
	/* an extent with rows, inside the segment; called once for each */
	int (*add)(void *context, const struct seg_extent *x);
};

/*
 * Calls `add` for the new extents. Entries become valid in any order, so
 * incomplete ones are read again the next time. All that is claimed is not more
 * than the segment has, and its file contains it at least in part. -EFBIG: no
 * room; -EBADMSG, -ENOMEM, errors of reading, or what `add` returned.
 */
int directory_follow(struct directory *d, const struct directory_place *at,
    const struct seg_header *h, const struct directory_hooks *hooks);

void directory_release(struct directory *d);

/* ---- rows by id ---- */

enum {
	DIRECTORY_BLOCK_BITS = 7, /* ids of one ledger extent of the collector */
	DIRECTORY_BLOCK_ROWS = 1 << DIRECTORY_BLOCK_BITS,
};

/* A stretch of one array's rows, all in one block of ids. */
struct directory_piece {
	uint64_t offset;
	uint32_t row_bytes;
	uint16_t first, count; /* in the block */
	bool is_sample;
	bool is_pool; /* of seep_alloc(), or mappings: not in totals */
};

/* The pieces of one block, one for each array that has its ids. */
struct directory_pieces {
	struct directory_piece *list; /* for free() */
	size_t count;
};

/*
 * Cuts an extent of rows by id at the borders of blocks, and adds each piece to
 * the list that `of` returns for a block, or a negative errno. -EFBIG, -ENOMEM.
 */
typedef int directory_block(void *context, size_t block, struct directory_pieces **ret);
int directory_cut(
    const struct seg_extent *x, const struct directory_hooks *hooks, directory_block *of);

#endif

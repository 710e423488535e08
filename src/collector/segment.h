/* segment.h - the shared mapping: header, directory, extents, counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SEGMENT_H
#define SEEP_COLLECTOR_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "trace/format.h"

/*
 * The segment is write-mostly: nothing that is read back from it is used as a
 * pointer, an index, a length or a loop bound (I20). Where the next extent
 * goes, how large all is, is known here, in private memory.
 */
struct segment {
	struct seg_header *header; /* never NULL: a dummy before start-up */
	uint8_t *base;
	uint64_t bytes; /* of this segment: the budget */
	uint64_t first; /* where extents begin */
	uint64_t used;  /* next free byte */
	uint64_t open;  /* extents below it can be written */
	uint64_t dir_offset;
	uint32_t dir_capacity;
	uint32_t dir_used;
	uint64_t dir_open; /* bytes of the directory that can be written */
	bool anonymous;    /* a forked child's first events: plain memory */
	bool populate;     /* MADV_POPULATE_WRITE works here */
};

extern SEEP_HIDDEN struct segment segment;

/*
 * Takes over `bytes` of mapped address space at base, opens header and the
 * first page of the directory and writes both but for header.magic. The
 * directory has room for a segment of `largest` bytes, which it may become by
 * segment_move(). False when not even that much memory could be had.
 */
bool segment_init(uint8_t *base, uint64_t bytes, uint64_t largest,
    bool anonymous, bool populate);

/* At three quarters of the budget new stacks lose their outer frames. */
bool segment_is_tight(void);

SEEP_INLINE void
segment_count(enum seg_count which, uint64_t by)
{
	ADD(&segment.header->counts[which], by);
}

/*
 * A table whose rows lie in extents, opened when first used. The chunk
 * pointers are private; `first` is the index of row 0 of chunk 0.
 */
struct segment_table {
	uint8_t **chunks;
	uint32_t chunk_count;
	uint32_t chunk_high; /* chunks at and above it were never opened */
	uint32_t rows_bits;  /* log2 of rows in a chunk */
	uint32_t row_bytes;
	enum seg_kind kind;
	uint32_t owner;
	uint64_t first;
};

/* `max_rows` bounds the index; false when there is no memory. */
bool segment_table_init(struct segment_table *t, enum seg_kind kind,
    uint32_t owner, uint32_t row_bytes, uint64_t first, uint64_t max_rows);

/*
 * The same in two steps, for a table that is not always needed: its shape while
 * there is one thread, its chunk pointers when it is needed, by any thread.
 */
void segment_table_shape(struct segment_table *t, enum seg_kind kind,
    uint32_t owner, uint32_t row_bytes, uint64_t first, uint64_t max_rows);
bool segment_table_map(struct segment_table *t);

/* Opens the chunk of `row` (counted from first). NULL: no room. */
void *segment_table_open(struct segment_table *t, uint64_t row);

/* The row, its chunk opened when need be; NULL: no room. */
SEEP_INLINE void *
segment_table_row(struct segment_table *t, uint64_t row)
{
	uint64_t c = row >> t->rows_bits;
	uint8_t *chunk;

	if (unlikely(c >= t->chunk_count))
		return NULL;
	chunk = LOAD_ACQUIRE(&t->chunks[c]);
	if (unlikely(!chunk))
		return segment_table_open(t, row);
	return chunk + (row & ((1u << t->rows_bits) - 1)) * t->row_bytes;
}

/*
 * A forked child moves from plain memory into its slot or file at `base`:
 * copies what is used and makes `tables` point there.
 */
bool segment_move(
    uint8_t *base, uint64_t bytes, struct segment_table **tables, size_t count);

#endif

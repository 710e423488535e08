/* segment.h - the shared mapping: header, directory, extents, counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEGMENT_H
#define SEEP_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "format/format.h"

/*
 * The segment is write-mostly: nothing that is read back from it is used as a
 * pointer, an index, a length or a loop bound (I20). Private memory says where
 * the next extent goes and how large everything is.
 *
 * The file is as large as the budget, but only the part in use is mapped, so
 * that a host with a limit on its address space keeps that space. Mapped are
 * the head (header and the beginning of the directory), and windows of doubling
 * size over the extents. Behind each of them one more page is mapped, the first
 * page of the next window, because mremap() with an old size of 0 makes another
 * view of a shared mapping, from that page on and of any length, without a
 * descriptor. Windows never move.
 */
enum {
	SEGMENT_HEAD_DIR = 32 << 10, /* of the directory, in the head */
	SEGMENT_WINDOW = 256 << 10,  /* the first one */
	SEGMENT_WINDOW_MAX = 32 << 20,
	SEGMENT_WINDOWS = 20,
};

/* Offsets in the file of a segment of `bytes`. */
struct segment_layout {
	uint64_t dir_bytes;
	uint64_t head_bytes; /* of header and directory, mapped */
	uint64_t first;      /* where extents begin */
};

struct segment_layout segment_layout(uint64_t bytes);

/* Mapped writable. If it is not anonymous, one more page follows each part. */
struct segment_memory {
	uint8_t *head; /* layout.head_bytes */
	uint8_t *extents;
	uint64_t extents_bytes; /* of the first window */
	uint64_t made;          /* bytes of it whose pages exist, with the head's first */
	bool anonymous;         /* of a child in its first events; does not grow */
	bool is_private;        /* of SEEP_PRIVATE; it grows, and nobody else sees it */
};

struct segment {
	struct seg_header *header; /* never NULL; a dummy before the start */
	uint64_t bytes;            /* of this segment: the budget */
	struct segment_layout layout;
	struct segment_memory memory;
	uint8_t *windows[SEGMENT_WINDOWS];
	uint8_t *dir_rest; /* the directory behind the head, when needed */
	uint64_t used;     /* next free byte */
	uint64_t open;     /* extents below it can be written */
	uint64_t pieces;   /* where the next piece goes, see new_piece() */
	uint32_t dir_capacity;
	uint32_t dir_used;
	uint64_t dir_open; /* bytes of the directory that can be written */
	bool populate;     /* MADV_POPULATE_WRITE works here */
};

extern SEEP_HIDDEN struct segment segment;

/*
 * Takes over the memory, which is laid out for a segment of `largest` bytes,
 * because segment_move() may make it one. Makes the pages of the header and the
 * first page of the directory, and writes both except for header.magic. False:
 * not even that much memory is there.
 */
bool segment_init(const struct segment_memory *m, uint64_t bytes, uint64_t largest, bool populate);

/* The same for `bytes` of plain, zeroed memory, in which it cannot grow. */
bool segment_init_plain(uint8_t *at, uint64_t bytes, uint64_t largest);

/*
 * Private memory for segment_init(), for a segment of `bytes` that nobody else
 * sees. False: there is none.
 */
bool segment_map_private(struct segment_memory *ret, uint64_t bytes);

/*
 * Opens some extents ahead. To be called when the host's allocator has just got
 * new memory from the kernel; see mem_refill().
 */
void segment_refill(void);

/*
 * In a forked child: unmaps the parent's segment. With `keep` plain memory
 * takes its place, for a hook that is under way and holds pointers into it.
 * False: there is no memory for that.
 */
bool segment_leave(bool keep);

/* The same for one mapping. */
bool segment_leave_mapping(uint8_t *at, uint64_t bytes, bool keep);

/* At three quarters of the budget new stacks lose their outer frames. */
bool segment_is_tight(void);

/*
 * Is there an extent that takes no system call, and leaves others for what is
 * needed more? For what can do without; no longer when three eighths of the
 * budget are used, so that a million stacks have room.
 */
bool segment_has_spare(void);

SEEP_INLINE void segment_count(enum seg_count which, uint64_t by)
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
	uint64_t claim; /* the chunk that is being opened, see segment.c */
};

/* `max_rows` bounds the index; false when there is no memory. */
bool segment_table_init(struct segment_table *t, enum seg_kind kind, uint32_t owner,
    uint32_t row_bytes, uint64_t first, uint64_t max_rows);

/*
 * The same in two steps, for a table that is not always needed. The first step
 * is made while there is one thread; the second, which maps the chunk pointers,
 * by any thread when it needs the table.
 */
void segment_table_shape(struct segment_table *t, enum seg_kind kind, uint32_t owner,
    uint32_t row_bytes, uint64_t first, uint64_t max_rows);
bool segment_table_map(struct segment_table *t);

/*
 * The same for a table of large rows, few of which are used: a chunk has only
 * 1 << rows_bits of them, several chunks share the room of an extent, and each
 * has an entry of the directory. When half of that is used, an entry is for as
 * many chunks as an extent has room for. Only one thread opens them.
 */
void segment_table_shape_pieces(struct segment_table *t, enum seg_kind kind, uint32_t row_bytes,
    uint64_t first, uint64_t max_rows, uint32_t rows_bits);

/* Opens the chunk of `row` (counted from first). NULL: no room. */
void *segment_table_open(struct segment_table *t, uint64_t row);

/* The row; opens its chunk if that is not open. NULL: no room. */
SEEP_INLINE void *segment_table_row(struct segment_table *t, uint64_t row)
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

/* The row if its chunk is open, else NULL: for a number from the segment. */
SEEP_INLINE const void *segment_table_peek(const struct segment_table *t, uint64_t row)
{
	uint64_t c = row >> t->rows_bits;
	const uint8_t *chunk;

	if (unlikely(c >= t->chunk_count))
		return NULL;
	chunk = LOAD_ACQUIRE(&t->chunks[c]);
	if (unlikely(!chunk))
		return NULL;
	return chunk + (row & ((1u << t->rows_bits) - 1)) * t->row_bytes;
}

/*
 * Moves a forked child from plain memory into its slot of `bytes`: copies the
 * part in use and makes `tables` point there. False: nothing has changed.
 */
bool segment_move(
    const struct segment_memory *m, uint64_t bytes, struct segment_table **tables, size_t count);

#endif

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
 *
 * Its file is as large as the budget, but only what is in use is mapped, so
 * that a host with a limit on its address space keeps it: the head (header and
 * the beginning of the directory), and windows of doubling size over the
 * extents. Behind each of them one page more is mapped, which is the first of
 * the next window: mremap() with an old size of 0 makes another view of a
 * shared mapping, from that page on and as long as we like, without a
 * descriptor. Windows never move.
 */
enum {
	SEGMENT_HEAD_DIR = 32 << 10, /* of the directory, in the head */
	SEGMENT_WINDOW = 256 << 10,  /* the first one */
	SEGMENT_WINDOW_MAX = 32 << 20,
	SEGMENT_WINDOWS = 20,
};

/* Where a segment of `bytes` has what: offsets in its file. */
struct segment_layout {
	uint64_t dir_bytes;
	uint64_t head_bytes; /* what is mapped of header and directory */
	uint64_t first;      /* where extents begin */
};

struct segment_layout segment_layout(uint64_t bytes);

/* Mapped writable; where it is not anonymous with a page more behind each. */
struct segment_memory {
	uint8_t *head; /* layout.head_bytes */
	uint8_t *extents;
	uint64_t extents_bytes; /* of the first window */
	uint64_t
	    made; /* bytes of it whose pages exist, with the head's first */
	bool anonymous;  /* a forked child's first events: does not grow */
	bool is_private; /* SEEP_PRIVATE: grows, and nobody else sees it */
};

struct segment {
	struct seg_header *header; /* never NULL: a dummy before start-up */
	uint64_t bytes;            /* of this segment: the budget */
	struct segment_layout layout;
	struct segment_memory memory;
	uint8_t *windows[SEGMENT_WINDOWS];
	uint8_t *dir_rest; /* the directory behind the head, when needed */
	uint64_t used;     /* next free byte */
	uint64_t open;     /* extents below it can be written */
	uint32_t dir_capacity;
	uint32_t dir_used;
	uint64_t dir_open; /* bytes of the directory that can be written */
	bool populate;     /* MADV_POPULATE_WRITE works here */
};

extern SEEP_HIDDEN struct segment segment;

/*
 * Takes over the memory, which is laid out for a segment of `largest` bytes:
 * it may become one by segment_move(). Opens header and the first page of the
 * directory and writes both but for header.magic. False when not even that
 * much memory could be had.
 */
bool segment_init(const struct segment_memory *m, uint64_t bytes,
    uint64_t largest, bool populate);

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
 * In a forked child: the parent's segment is out of reach, for good. With
 * `keep` plain memory takes its place, for a hook that is under way and holds
 * pointers into it; false: that could not be had.
 */
bool segment_leave(bool keep);

/* One mapping goes, or plain memory takes its place. */
bool segment_leave_mapping(uint8_t *at, uint64_t bytes, bool keep);

/* At three quarters of the budget new stacks lose their outer frames. */
bool segment_is_tight(void);

/*
 * Is there an extent that takes no system call, and leaves others for what is
 * needed more? For what can do without.
 */
bool segment_has_spare(void);

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
 * A forked child moves from plain memory into its slot of `bytes`: copies what
 * is used and makes `tables` point there. False: nothing has changed.
 */
bool segment_move(const struct segment_memory *m, uint64_t bytes,
    struct segment_table **tables, size_t count);

#endif

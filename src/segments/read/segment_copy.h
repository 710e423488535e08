/* segment_copy.h - a private, checked copy of one process's segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEGMENT_COPY_H
#define SEEP_SEGMENT_COPY_H

#include "base/std.h"
#include "kit/os/fault.h"
#include "kit/os/infile.h"
#include "format/format.h"

enum {
	/* The collector makes at most 32,768 extents in at most 256 MiB. */
	SEGMENT_MAX_EXTENTS = 65536,
	/* bytes of rows: our limit, and never more than the source has */
	SEGMENT_MAX_BYTES = 512 << 20,
	SEGMENT_MAX_ROW = 4096,
};

struct segment_rows {
	uint32_t kind; /* enum seg_kind, or one of a later version */
	uint32_t owner;
	uint32_t row_bytes; /* at least the size of the kind's struct */
	uint32_t count;
	uint64_t first;
	uint8_t *rows; /* count * row_bytes */
};

/*
 * Every extent lies inside what was read. Values in rows are not checked:
 * whoever uses ids, node and module numbers must check them. Sum over all
 * arrays: allocations >= frees, also for a host that runs.
 */
struct segment {
	struct seg_header header; /* its strings end with a NUL */
	struct segment_rows *extents;
	size_t extent_count;
	bool peak_stable; /* the peak did not move while the ledger was read */
};

/*
 * Copies the segment in [base, base + limit) of the source. A segment in use
 * changes meanwhile: frees are read before allocations, the peak up to three
 * times, and tables that ids refer to after the ids. -ENODATA: being set up, or
 * an empty slot; -EINVAL: not a segment; -ENOTSUP: another version; -EBADMSG:
 * damaged; -EFBIG; -ENOMEM.
 */
int segment_copy_read(const struct source *s, uint64_t base, uint64_t limit, struct segment **ret,
    struct fault *where);

/*
 * The same, with no table but the ledger: what the totals need. The other tables
 * have no extents in it.
 */
int segment_copy_read_ledger(const struct source *s, uint64_t base, uint64_t limit,
    struct segment **ret, struct fault *where);

/* Reads only the header, and checks it in the same way. */
int segment_copy_read_header(const struct source *s, uint64_t base, uint64_t limit,
    struct seg_header *ret, struct fault *where);

/* NULL is fine. */
void segment_copy_free(struct segment *seg);

/* Row i of an extent; i < count. */
const void *segment_copy_row(const struct segment_rows *x, uint32_t i);

/*
 * The same, copied into a struct of `size` bytes: fields that a shorter row
 * does not have are zero. Returns how many bytes the row has of them.
 */
size_t segment_copy_row_into(const struct segment_rows *x, uint32_t i, void *to, size_t size);

/* Adds an extent of zeros; NULL: out of memory. */
struct segment_rows *segment_copy_add(struct segment *seg, const struct seg_extent *x);

/*
 * Marks this copy as a snapshot that the command makes now, in header and
 * marks; a long label is cut. -ENOMEM.
 */
int segment_copy_mark_snapshot(struct segment *seg, const char *label);

/*
 * A complete segment file: header, dense directory, the rows in use, no slots.
 * The caller frees *ret. -ENOMEM.
 */
int segment_copy_compact(const struct segment *seg, void **ret, size_t *ret_len);

#endif

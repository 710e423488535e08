/* segment_copy.c - a private, checked copy of one process's segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "segments/read/segment_copy.h"

#include "segments/read/steady.h"
#include "kit/os/infile.h"
#include "kit/data/sorted.h"
#include "format/rows.h"
#include "format/seg_tables.h"

enum {
	PEAK_TRIES = 3,
	CHUNK_ROWS = 256,   /* ids whose frees and allocations are close */
	GROUP_EXTENTS = 64, /* more arrays than that: not our collector */
};

/* A part of the source: all offsets of a segment count from its base. */
struct window {
	const struct source *source;
	uint64_t base, limit;
};

const void *segment_copy_row(const struct segment_rows *x, uint32_t i)
{
	return x->rows + (size_t)i * x->row_bytes;
}

size_t segment_copy_row_into(const struct segment_rows *x, uint32_t i, void *to, size_t size)
{
	size_t n = x->row_bytes < size ? x->row_bytes : size;

	memcpy(to, segment_copy_row(x, i), n);
	memset((uint8_t *)to + n, 0, size - n);
	return n;
}

static int window_read(const struct window *w, uint64_t offset, void *buffer, size_t len)
{
	if (offset > w->limit || len > w->limit - offset)
		return -EBADMSG;
	return source_read(w->source, w->base + offset, buffer, len);
}

static int read_header(const struct window *w, struct seg_header *h, struct fault *where)
{
	bool is_whole = window_read(w, 0, h, sizeof(*h)) == 0;
	int err;

	if (w->limit < sizeof(h->magic))
		return fault_set(where, w->limit ? -EINVAL : -ENODATA, "the file holds %llu bytes",
		    (unsigned long long)w->limit);
	err = is_whole ? 0 : window_read(w, 0, &h->magic, sizeof(h->magic));
	if (err < 0)
		return fault_set(where, err, "the header cannot be read");
	if (h->magic == 0)
		return fault_set(where, -ENODATA, "the segment is not set up");
	if (h->magic != SEG_MAGIC)
		return fault_set(where, -EINVAL, "not a segment of seep");
	if (!is_whole)
		return fault_set(where, -EBADMSG,
		    "the file ends after %llu bytes, inside the header",
		    (unsigned long long)w->limit);
	if (h->version < SEG_VERSION || h->version > SEG_VERSION_INFOS)
		return fault_set(where, -ENOTSUP,
		    "segment version %u, this seep reads versions %u to %u", h->version,
		    (unsigned)SEG_VERSION, (unsigned)SEG_VERSION_INFOS);
	if (h->header_bytes < SEG_HEADER_BYTES)
		return fault_set(where, -EBADMSG, "header of %u bytes", h->header_bytes);
	h->session[sizeof(h->session) - 1] = '\0';
	h->snapshot_label[sizeof(h->snapshot_label) - 1] = '\0';
	h->place_asked[sizeof(h->place_asked) - 1] = '\0';
	h->start_dir[sizeof(h->start_dir) - 1] = '\0';
	h->exe[sizeof(h->exe) - 1] = '\0';
	h->command[sizeof(h->command) - 2] = '\0';
	h->command[sizeof(h->command) - 1] = '\0';
	return 0;
}

int segment_copy_read_header(const struct source *s, uint64_t base, uint64_t limit,
    struct seg_header *ret, struct fault *where)
{
	struct window w = {.source = s, .base = base, .limit = limit};

	return read_header(&w, ret, where);
}

static int check_extent(
    const struct window *w, struct seg_extent *x, uint32_t i, uint64_t *budget, struct fault *where)
{
	uint64_t bytes;

	if (x->kind == SEG_EXT_STRING && x->row_bytes == 0)
		x->row_bytes = 1;
	if (x->row_bytes == 0 || x->row_bytes > SEGMENT_MAX_ROW ||
	    x->row_bytes < tables_row_min(x->kind))
		return fault_set(where, -EBADMSG, "extent %u (table %s) has rows of %u bytes", i,
		    tables_name(x->kind), x->row_bytes);
	bytes = (uint64_t)x->count * x->row_bytes;
	if (x->offset > w->limit || bytes > w->limit - x->offset)
		return fault_set(where, -EBADMSG,
		    "extent %u (table %s, %llu bytes at %llu)"
		    " lies beyond the end (%llu)",
		    i, tables_name(x->kind), (unsigned long long)bytes,
		    (unsigned long long)x->offset, (unsigned long long)w->limit);
	if (bytes > *budget)
		return fault_set(where, w->limit > SEGMENT_MAX_BYTES ? -EFBIG : -EBADMSG,
		    "extents overlap, or hold more than %u bytes", (unsigned)SEGMENT_MAX_BYTES);
	if (x->first > UINT64_MAX - x->count)
		return fault_set(where, -EBADMSG, "extent %u starts at row %llu", i,
		    (unsigned long long)x->first);
	*budget -= bytes;
	return 0;
}

/* The valid entries in the order of the directory; the caller frees *ret. */
static int read_directory(const struct window *w, const struct seg_header *h,
    struct seg_extent **ret, size_t *ret_count, struct fault *where)
{
	/*
	 * extents that do not overlap are together no larger than the segment
	 */
	uint64_t all = w->limit < SEGMENT_MAX_BYTES ? w->limit : SEGMENT_MAX_BYTES;
	uint64_t budget = all;
	struct seg_extent *dir;
	uint32_t used = h->dir_used;
	size_t kept = 0;
	int err;

	if (used > h->dir_capacity)
		used = h->dir_capacity; /* begun, and found no room */
	if (used > SEGMENT_MAX_EXTENTS)
		return fault_set(where, -EBADMSG, "directory of %u extents", used);
	dir = calloc(used + (size_t)1, sizeof(*dir));
	if (!dir)
		return fault_set(where, -ENOMEM, "out of memory");
	err = window_read(w, h->dir_offset, dir, used * sizeof(*dir));
	if (err < 0) {
		(void)fault_set(where, err,
		    "the directory (%u entries at %llu)"
		    " lies beyond the end (%llu)",
		    used, (unsigned long long)h->dir_offset, (unsigned long long)w->limit);
		goto out;
	}
	for (uint32_t i = 0; i < used; i++) {
		if (dir[i].kind == SEG_EXT_NONE || dir[i].count == 0)
			continue;
		err = check_extent(w, &dir[i], i, &budget, where);
		if (err < 0)
			goto out;
		dir[kept++] = dir[i];
	}
	if (!holes_allow(w->source->fd, w->base, w->limit, all - budget)) {
		err = fault_set(where, -EBADMSG,
		    "its tables claim %llu bytes, far more than is stored",
		    (unsigned long long)(all - budget));
		goto out;
	}
	*ret = dir;
	*ret_count = kept;
	return 0;
out:
	free(dir);
	return err;
}

struct segment_rows *segment_copy_add(struct segment *seg, const struct seg_extent *x)
{
	struct segment_rows *extents, *added;

	extents = reallocarray(seg->extents, seg->extent_count + 1, sizeof(*extents));
	if (!extents)
		return NULL;
	seg->extents = extents;
	added = &extents[seg->extent_count];
	*added = (struct segment_rows){
	    .kind = x->kind,
	    .owner = x->owner,
	    .row_bytes = x->row_bytes,
	    .count = x->count,
	    .first = x->first,
	    .rows = calloc(x->count, x->row_bytes),
	};
	if (!added->rows)
		return NULL;
	seg->extent_count++;
	return added;
}

static int copy_extent(
    struct segment *seg, const struct window *w, const struct seg_extent *x, struct fault *where)
{
	struct segment_rows *to = segment_copy_add(seg, x);
	int err;

	if (!to)
		return fault_set(where, -ENOMEM, "out of memory");
	err = window_read(w, x->offset, to->rows, (size_t)x->count * x->row_bytes);
	if (err < 0)
		return fault_set(where, err, "the file was cut while read");
	return 0;
}

BY(by_first, struct seg_extent, UP(first) ?: UP(owner))

/*
 * Reads rows [from, to) of the extents of one group, twice: see
 * rows_read_again().
 */
static int copy_stretch(const struct window *w, const struct seg_extent *x,
    struct segment_rows *rows, size_t n, uint64_t from, uint64_t to)
{
	uint8_t *again = NULL;
	size_t again_bytes = 0;
	int err = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n && err == 0; i++) {
			uint64_t a = from > x[i].first ? from : x[i].first;
			uint64_t b = x[i].first + x[i].count;
			size_t at, bytes;

			b = to < b ? to : b;
			if (a >= b)
				continue;
			at = (size_t)(a - x[i].first) * x[i].row_bytes;
			bytes = (size_t)(b - a) * x[i].row_bytes;
			if (pass == 0) {
				err = window_read(w, x[i].offset + at, rows[i].rows + at, bytes);
				continue;
			}
			if (bytes > again_bytes) {
				free(again);
				again = malloc(bytes);
				again_bytes = again ? bytes : 0;
			}
			if (!again) {
				err = -ENOMEM;
				break;
			}
			err = window_read(w, x[i].offset + at, again, bytes);
			for (size_t r = 0; r < bytes && err == 0; r += x[i].row_bytes) {
				uint8_t *at_row = rows[i].rows + at + r;
				struct seg_row row, fresh;

				memcpy(&row, at_row, sizeof(row));
				memcpy(&fresh, again + r, sizeof(fresh));
				rows_read_again(&row, &fresh);
				memcpy(at_row, &row, sizeof(row));
			}
		}
	}
	free(again);
	return err;
}

static int copy_quickly(const struct window *w, const struct seg_extent *x,
    struct segment_rows *rows, size_t n, uint64_t from, uint64_t to)
{
	struct steady steady = steady_begin();
	int err;

	do
		err = copy_stretch(w, x, rows, n, from, to);
	while (err == 0 && w->source->fd >= 0 && steady_was_late(&steady));
	return err;
}

/*
 * Reads the ledger extents x[0..n), which overlap and cover ids [from, to), in
 * small ranges of ids, so that little happens between the two passes.
 */
static int copy_group(struct segment *seg, const struct window *w, const struct seg_extent *x,
    size_t n, uint64_t to, struct fault *where)
{
	uint64_t step = n > GROUP_EXTENTS ? UINT64_MAX : CHUNK_ROWS;
	uint64_t from = x[0].first;
	size_t at = seg->extent_count;
	int err;

	for (size_t i = 0; i < n; i++)
		if (!segment_copy_add(seg, &x[i]))
			return fault_set(where, -ENOMEM, "out of memory");
	while (from < to) {
		uint64_t end = to - from > step ? from + step : to;

		err = copy_quickly(w, x, seg->extents + at, n, from, end);
		if (err < 0)
			return fault_set(where, err, "the ledger cannot be read");
		from = end;
	}
	return 0;
}

static int copy_ledger(struct segment *seg, const struct window *w, struct seg_extent *dir,
    size_t dir_count, struct fault *where)
{
	size_t n = 0;
	int err;

	for (size_t i = 0; i < dir_count; i++)
		if (dir[i].kind == SEG_EXT_LEDGER)
			dir[n++] = dir[i];
	qsort(dir, n, sizeof(*dir), by_first);
	for (size_t i = 0; i < n;) {
		uint64_t to = dir[i].first + dir[i].count;
		size_t j = i + 1;

		for (; j < n && dir[j].first < to; j++)
			if (dir[j].first + dir[j].count > to)
				to = dir[j].first + dir[j].count;
		err = copy_group(seg, w, dir + i, j - i, to, where);
		if (err < 0)
			return err;
		i = j;
	}
	return 0;
}

static void drop_extents(struct segment *seg)
{
	for (size_t i = 0; i < seg->extent_count; i++)
		free(seg->extents[i].rows);
	free(seg->extents);
	seg->extents = NULL;
	seg->extent_count = 0;
}

/* Reads header and ledger, and repeats that if the peak has moved meanwhile. */
static int read_ledger(struct segment *seg, const struct window *w, struct fault *where)
{
	struct seg_header after;
	struct seg_extent *dir;
	size_t n;
	int err;

	for (int i = 0; i < PEAK_TRIES && !seg->peak_stable; i++) {
		drop_extents(seg);
		err = read_header(w, &seg->header, where);
		if (err < 0)
			return err;
		err = read_directory(w, &seg->header, &dir, &n, where);
		if (err < 0)
			return err;
		err = copy_ledger(seg, w, dir, n, where);
		free(dir);
		if (err < 0)
			return err;
		err = read_header(w, &after, where);
		if (err < 0)
			return err;
		seg->peak_stable = after.peak_epoch == seg->header.peak_epoch &&
		    after.peak_bytes == seg->header.peak_bytes;
	}
	/*
	 * A copy that was made while the peak moved keeps this flag; see
	 * segment_copy_compact().
	 */
	if (seg->header.peak_flags & SEG_PEAK_MOVED)
		seg->peak_stable = false;
	return 0;
}

static int read_rest(struct segment *seg, const struct window *w, struct fault *where)
{
	struct seg_header fresh;
	struct seg_extent *dir = NULL;
	size_t n = 0;
	int err;

	/*
	 * the directory may have grown by extents that the ledger's ids refer
	 * to
	 */
	err = read_header(w, &fresh, where);
	if (err < 0)
		return err;
	err = read_directory(w, &fresh, &dir, &n, where);
	if (err < 0)
		return err;
	for (uint32_t k = 0; k < TABLES_COUNT; k++)
		for (size_t i = 0; i < n && err == 0; i++)
			if (dir[i].kind == tables_kind(k) && dir[i].kind != SEG_EXT_LEDGER)
				err = copy_extent(seg, w, &dir[i], where);
	for (size_t i = 0; i < n && err == 0; i++)
		if (dir[i].kind > TABLES_COUNT) /* a kind of a later version */
			err = copy_extent(seg, w, &dir[i], where);
	free(dir);
	return err;
}

static int read_segment(const struct source *s, uint64_t base, uint64_t limit, bool with_rest,
    struct segment **ret, struct fault *where)
{
	struct window w = {.source = s, .base = base, .limit = limit};
	struct segment *seg;
	int err;

	seg = calloc(1, sizeof(*seg));
	if (!seg)
		return fault_set(where, -ENOMEM, "out of memory");
	err = read_ledger(seg, &w, where);
	if (err < 0)
		goto out;
	err = with_rest ? read_rest(seg, &w, where) : 0;
	if (err < 0)
		goto out;
	*ret = seg;
	seg = NULL;
out:
	segment_copy_free(seg);
	return err;
}

int segment_copy_read(const struct source *s, uint64_t base, uint64_t limit, struct segment **ret,
    struct fault *where)
{
	return read_segment(s, base, limit, true, ret, where);
}

int segment_copy_read_ledger(const struct source *s, uint64_t base, uint64_t limit,
    struct segment **ret, struct fault *where)
{
	return read_segment(s, base, limit, false, ret, where);
}

void segment_copy_free(struct segment *seg)
{
	if (!seg)
		return;
	drop_extents(seg);
	free(seg);
}

/* tail.c - watches a segment: what is new since the last look. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/tail.h"

#include "base/std.h"
#include "format/rows.h"
#include "format/seg_tables.h"

int tail_new(uint64_t number, struct tail_room *room, struct tail **ret)
{
	struct tail *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->number = number;
	t->room = room;
	*ret = t;
	return 0;
}

void tail_free(struct tail *t)
{
	if (!t)
		return;
	t->room->bytes += t->charged;
	for (size_t i = 0; i < t->table_count; i++)
		free(t->tables[i].written);
	for (size_t i = 0; i < sizeof(t->column) / sizeof(t->column[0]); i++)
		codec_release(&t->column[i]);
	free(t->tables);
	extent_list_release(&t->directory);
	free(t->buffer);
	free(t);
}

size_t tail_sites(const struct tail *t)
{
	return t->sites;
}

uint64_t tail_module_changes(const struct tail *t)
{
	return t->module_changes;
}

/* A string may continue in the next extent. */
static bool copy_string(const struct tail *t, uint64_t offset, uint32_t len, char *to)
{
	uint32_t found = 0;

	for (size_t i = 0; i < t->table_count; i++) {
		const struct seg_extent *x = &t->tables[i].extent;
		uint64_t from, end;

		if (x->kind != SEG_EXT_STRING || !t->tables[i].written || x->row_bytes != 1 ||
		    offset > UINT64_MAX - len)
			continue;
		from = offset > x->first ? offset : x->first;
		end = x->first + x->count;
		if (end > offset + len)
			end = offset + len;
		if (from >= end)
			continue;
		memcpy(to + (from - offset), t->tables[i].written + (from - x->first),
		    (size_t)(end - from));
		found += (uint32_t)(end - from);
	}
	to[len] = '\0';
	return found == len;
}

void tail_modules(const struct tail *t,
    void (*each)(void *, const struct seg_module *, const char *), void *context)
{
	char path[4096];

	for (size_t i = 0; i < t->table_count; i++) {
		const struct seg_extent *x = &t->tables[i].extent;

		if (x->kind != SEG_EXT_MODULE || !t->tables[i].written ||
		    x->row_bytes < sizeof(struct seg_module))
			continue;
		for (uint32_t k = 0; k < x->count; k++) {
			struct seg_module row;

			memcpy(&row, t->tables[i].written + (size_t)k * x->row_bytes, sizeof(row));
			if (row.end > 0 && row.path_bytes > 0 && row.path_bytes < sizeof(path) &&
			    copy_string(t, row.path, row.path_bytes, path))
				each(context, &row, path);
		}
	}
}

/* For reading, valid until the next call; NULL: no memory. */
static uint8_t *buffer_of(struct tail *t, size_t len)
{
	if (len > t->buffer_bytes) {
		free(t->buffer);
		t->buffer = malloc(len);
		t->buffer_bytes = t->buffer ? len : 0;
	}
	return t->buffer;
}

/* Checks the limit before memory is taken for the life of the tail. */
static bool take(void *context, size_t bytes)
{
	struct tail *t = context;

	if (bytes > t->room->bytes)
		return false;
	t->room->bytes -= bytes;
	t->charged += bytes;
	return true;
}

static int add_table(void *context, const struct seg_extent *x)
{
	struct tail *t = context;
	struct tail_table *more;

	if (!take(t, sizeof(*more) + (size_t)x->count * x->row_bytes))
		return -EFBIG;
	more = reallocarray(t->tables, t->table_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->tables = more;
	more += t->table_count;
	*more = (struct tail_table){.extent = *x};
	more->written = calloc(x->count, x->row_bytes);
	if (!more->written)
		return -ENOMEM;
	t->table_count++;
	return 0;
}

/* Everything else is in the end state only. */
static bool wants(uint32_t kind)
{
	return kind == SEG_EXT_LEDGER || kind == SEG_EXT_SAMPLE || tables_in_time_line(kind);
}

/*
 * Reads new extents of the directory. Entries become valid in any order, so
 * incomplete ones are read again next time. -EFBIG: the tail has no room;
 * -EBADMSG, -ENOMEM.
 */
static int read_directory(struct tail_look *l, const struct seg_header *h)
{
	const struct extent_list_hooks hooks = {.context = l->tail,
	    .take = take,
	    .wants = wants,
	    .add = add_table,
	    .kept_bytes = sizeof(struct tail_block),
	    .beside_bytes = TAIL_BLOCK_COLUMNS};

	return extent_list_follow(&l->tail->directory, &l->at, h, &hooks);
}

static void put_header(struct tail *t, const struct seg_header *h, struct codec_out *out)
{
	uint64_t words[TAIL_HEADER_WORDS];
	struct codec_out body = {0};
	uint64_t gap = 0;

	memcpy(words, h, sizeof(words));
	codec_put(&body, t->number);
	for (size_t i = 0; i < TAIL_HEADER_WORDS; i++, gap++) {
		if (words[i] == t->header[i])
			continue;
		codec_put(&body, gap);
		codec_put_signed(&body, (int64_t)(words[i] - t->header[i]));
		t->header[i] = words[i];
		gap = UINT64_MAX; /* 0 at the next word */
	}
	codec_put_item(out, CODEC_HEADER, &body);
	codec_release(&body);
}

static void put_rows(const struct tail *t, const struct seg_extent *x, uint32_t first,
    uint32_t count, const uint8_t *rows, struct codec_out *out)
{
	struct codec_out body = {0};

	codec_put(&body, t->number);
	codec_put(&body, x->kind);
	codec_put(&body, x->row_bytes);
	codec_put(&body, x->first + first);
	codec_put_bytes(&body, rows + (size_t)first * x->row_bytes, (size_t)count * x->row_bytes);
	codec_put_item(out, CODEC_ROWS, &body);
	codec_release(&body);
}

/* Writes every row in use, in a table whose rows never change afterwards. */
static bool is_finished(const struct seg_extent *x, const uint8_t *rows)
{
	if (x->kind != SEG_EXT_NODE && x->kind != SEG_EXT_INNER && x->kind != SEG_EXT_SITE)
		return false;
	for (uint32_t i = 0; i < x->count; i++)
		if (rows_is_zero(rows + (size_t)i * x->row_bytes, x->row_bytes))
			return false;
	return true;
}

static void tell_rows(
    const struct tail *tail, const struct tail_table *t, const uint8_t *now, struct codec_out *out)
{
	const struct seg_extent *x = &t->extent;

	for (uint32_t i = 0, n; i < x->count; i = n + 1) {
		for (n = i; n < x->count; n++) {
			size_t at = (size_t)n * x->row_bytes;

			if (!memcmp(now + at, t->written + at, x->row_bytes))
				break;
		}
		if (n > i)
			put_rows(tail, x, i, n - i, now, out);
	}
}

static int look_at_table(struct tail_look *l, struct tail_table *t, struct codec_out *out)
{
	size_t len = (size_t)t->extent.count * t->extent.row_bytes;
	uint8_t *now;
	int err;

	if (!t->written)
		return 0;
	now = buffer_of(l->tail, len);
	if (!now)
		return -ENOMEM;
	err = extent_list_read(&l->at, t->extent.offset, now, len);
	if (err < 0)
		return err;
	if (memcmp(now, t->written, len) != 0) {
		tell_rows(l->tail, t, now, out);
		memcpy(t->written, now, len);
		l->tail->module_changes += t->extent.kind == SEG_EXT_MODULE;
	} else if (is_finished(&t->extent, now)) {
		/*
		 * the same in two reads, so it was not read while it was half
		 * written
		 */
		free(t->written);
		t->written = NULL;
	}
	return 0;
}

static int read_tables(struct tail_look *l, struct codec_out *out)
{
	struct tail *t = l->tail;

	for (uint32_t k = 0; k < TABLES_COUNT; k++)
		for (size_t i = 0; i < t->table_count; i++) {
			int err;

			if (t->tables[i].extent.kind != tables_kind(k))
				continue;
			err = look_at_table(l, &t->tables[i], out);
			if (err < 0)
				return err;
		}
	return 0;
}

static void put_begin(struct tail *t, struct codec_out *out)
{
	struct codec_out body = {0};

	if (t->begun)
		return;
	codec_put(&body, t->number);
	codec_put_item(out, CODEC_PROCESS, &body);
	codec_release(&body);
	t->begun = true;
}

int tail_look(struct tail *t, const struct segfile *f, int slot, bool rows, struct codec_out *out,
    struct seg_header *ret_header)
{
	struct tail_look l = {.tail = t, .at.source = segfile_source(f), .rows = rows};
	int err;

	err = segfile_header(f, slot, ret_header, NULL);
	if (err == 0)
		err = segfile_window(f, slot, &l.at.base, &l.at.limit);
	if (err == 0)
		err = read_directory(&l, ret_header);
	if (err < 0)
		return err;
	for (size_t i = 0; i < sizeof(t->column) / sizeof(t->column[0]); i++)
		t->column[i].len = 0;
	l.epoch = (uint32_t)ret_header->peak_epoch;
	l.new_peak = rows && l.epoch != t->peak_epoch;
	/*
	 * From here on the state changes as items are written, so a failure
	 * ends this tail.
	 */
	put_begin(t, out);
	err = tail_ledger(&l);
	if (err < 0)
		return err;
	tail_put_totals(t, &l.totals, out);
	if (!rows)
		return out->failed ? -ENOMEM : 0;
	t->peak_epoch = l.epoch;
	put_header(t, ret_header, out);
	tail_put_ledger(&l, out);
	/* new ids in the ledger may refer to extents that were added since */
	if (segfile_header(f, slot, ret_header, NULL) == 0 && read_directory(&l, ret_header) == 0)
		err = read_tables(&l, out);
	return out->failed ? -ENOMEM : err;
}

/* tail.c - a segment watched over time: what is new since the last look. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/steady.h"
#include "trace/holes.h"
#include "trace/rows.h"
#include "trace/tables.h"

enum {
	BLOCK_BITS = 7, /* ids of one ledger extent of the collector */
	BLOCK_ROWS = 1 << BLOCK_BITS,
	BLOCK_COLUMNS = BLOCK_ROWS * 64, /* rows of a block as they are told */
	ROW_BYTES = 64, /* what a ledger row or a sample has at least */
	HEADER_WORDS = SEG_HEADER_BYTES / 8,
};
_Static_assert(sizeof(struct seg_row) == ROW_BYTES &&
        (int)SEG_SAMPLE_OLD_BYTES == (int)ROW_BYTES,
    "one bound serves both");

/* A stretch of one array's rows, all in one block of ids. */
struct piece {
	uint64_t offset;
	uint32_t row_bytes;
	uint16_t first, count; /* in the block */
	bool is_sample;
	bool is_user; /* of pools: no part of the totals */
};

struct block {
	struct piece *pieces; /* one for each array that has these ids */
	size_t piece_count;
	struct codec_sum told[BLOCK_ROWS];
};

/* An extent of a table that only grows, or whose rows may change. */
struct table {
	struct seg_extent extent;
	uint8_t *told; /* NULL: full and told, never to change */
};

struct tail {
	struct tail_room *room;
	size_t charged;   /* of that room */
	uint64_t claimed; /* bytes of rows, by the directory */
	uint64_t number;
	bool begun; /* CODEC_PROCESS is put */
	uint64_t header[HEADER_WORDS];
	uint32_t dir_done;  /* entries before are all known */
	uint8_t *dir_known; /* by number of the entry */
	uint32_t dir_room;
	struct block **blocks; /* by id >> BLOCK_BITS */
	size_t block_room;
	struct table *tables;
	size_t table_count;
	size_t sites;
	uint64_t module_changes;
	uint32_t peak_epoch;
	struct codec_sum totals; /* as told */
	struct codec_out
	    column[CODEC_ALL_COLUMNS]; /* ids first, samples last */
	uint8_t *buffer;
	size_t buffer_bytes;
};

/* One look. */
struct look {
	struct tail *tail;
	const struct source *source;
	uint64_t base, limit;
	bool rows;
	bool new_peak;
	uint32_t epoch;
	struct codec_sum totals;
	uint64_t changed;
	uint64_t last_id;
	bool samples;             /* some row has them */
	bool wide;                /* and variances that need 128 bits */
	bool is_user[BLOCK_ROWS]; /* of the block read last */
};

/* Before memory is taken that lasts as long as the tail. */
static int
charge(struct tail *t, size_t bytes)
{
	if (bytes > t->room->bytes)
		return -EFBIG;
	t->room->bytes -= bytes;
	t->charged += bytes;
	return 0;
}

int
tail_new(uint64_t number, struct tail_room *room, struct tail **ret)
{
	struct tail *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->number = number;
	t->room = room;
	*ret = t;
	return 0;
}

void
tail_free(struct tail *t)
{
	if (!t)
		return;
	t->room->bytes += t->charged;
	for (size_t i = 0; i < t->block_room; i++) {
		if (t->blocks[i])
			free(t->blocks[i]->pieces);
		free(t->blocks[i]);
	}
	for (size_t i = 0; i < t->table_count; i++)
		free(t->tables[i].told);
	for (size_t i = 0; i < sizeof(t->column) / sizeof(t->column[0]); i++)
		codec_release(&t->column[i]);
	free(t->blocks);
	free(t->tables);
	free(t->dir_known);
	free(t->buffer);
	free(t);
}

size_t
tail_sites(const struct tail *t)
{
	return t->sites;
}

uint64_t
tail_module_changes(const struct tail *t)
{
	return t->module_changes;
}

/* A string may run over from one extent into the next. */
static bool
copy_string(const struct tail *t, uint64_t offset, uint32_t len, char *to)
{
	uint32_t found = 0;

	for (size_t i = 0; i < t->table_count; i++) {
		const struct seg_extent *x = &t->tables[i].extent;
		uint64_t from, end;

		if (x->kind != SEG_EXT_STRING || !t->tables[i].told ||
		    x->row_bytes != 1 || offset > UINT64_MAX - len)
			continue;
		from = offset > x->first ? offset : x->first;
		end = x->first + x->count;
		if (end > offset + len)
			end = offset + len;
		if (from >= end)
			continue;
		memcpy(to + (from - offset),
		    t->tables[i].told + (from - x->first),
		    (size_t)(end - from));
		found += (uint32_t)(end - from);
	}
	to[len] = '\0';
	return found == len;
}

void
tail_modules(const struct tail *t,
    void (*each)(void *, const struct seg_module *, const char *),
    void *context)
{
	char path[4096];

	for (size_t i = 0; i < t->table_count; i++) {
		const struct seg_extent *x = &t->tables[i].extent;

		if (x->kind != SEG_EXT_MODULE || !t->tables[i].told ||
		    x->row_bytes < sizeof(struct seg_module))
			continue;
		for (uint32_t k = 0; k < x->count; k++) {
			struct seg_module row;

			memcpy(&row,
			    t->tables[i].told + (size_t)k * x->row_bytes,
			    sizeof(row));
			if (row.end > 0 && row.path_bytes > 0 &&
			    row.path_bytes < sizeof(path) &&
			    copy_string(t, row.path, row.path_bytes, path))
				each(context, &row, path);
		}
	}
}

static int
look_read(const struct look *l, uint64_t offset, void *to, size_t len)
{
	if (offset > l->limit || len > l->limit - offset)
		return -EBADMSG;
	return source_read(l->source, l->base + offset, to, len);
}

static uint8_t *
buffer_of(struct tail *t, size_t len)
{
	if (len > t->buffer_bytes) {
		free(t->buffer);
		t->buffer = malloc(len);
		t->buffer_bytes = t->buffer ? len : 0;
	}
	return t->buffer;
}

/* ---- the directory ---- */

static int
block_of(struct tail *t, uint64_t id, struct block **ret)
{
	size_t n = (size_t)(id >> BLOCK_BITS);

	if (n >= t->block_room) {
		size_t room = t->block_room ? t->block_room : 64;
		struct block **bigger;

		while (room <= n)
			room *= 2;
		if (charge(t, (room - t->block_room) * sizeof(struct block *)) <
		    0)
			return -EFBIG;
		bigger = reallocarray(t->blocks, room, sizeof(struct block *));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + t->block_room, 0,
		    (room - t->block_room) * sizeof(struct block *));
		t->blocks = bigger;
		t->block_room = room;
	}
	if (!t->blocks[n]) {
		if (charge(t, sizeof(struct block) + BLOCK_COLUMNS) < 0)
			return -EFBIG;
		t->blocks[n] = calloc(1, sizeof(struct block));
		if (!t->blocks[n])
			return -ENOMEM;
	}
	*ret = t->blocks[n];
	return 0;
}

/* A ledger or sample extent, cut at the borders of blocks. */
static int
add_pieces(struct tail *t, const struct seg_extent *x)
{
	uint64_t id = x->first, end = x->first + x->count;

	if (x->row_bytes < ROW_BYTES)
		return -EBADMSG;
	if (end >> SEG_SITE_BITS)
		end = UINT64_C(1) << SEG_SITE_BITS; /* no site is beyond */
	while (id < end) {
		uint64_t next = (id | (BLOCK_ROWS - 1)) + 1;
		struct block *b;
		struct piece *more;
		int err = block_of(t, id, &b);

		if (err == 0)
			err = charge(t, sizeof(*more));
		if (err < 0)
			return err;
		more =
		    reallocarray(b->pieces, b->piece_count + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		b->pieces = more;
		if (next > end)
			next = end;
		more[b->piece_count++] = (struct piece){
		    .offset = x->offset + (id - x->first) * x->row_bytes,
		    .row_bytes = x->row_bytes,
		    .first = (uint16_t)(id % BLOCK_ROWS),
		    .count = (uint16_t)(next - id),
		    .is_sample = x->kind == SEG_EXT_SAMPLE,
		    .is_user = x->owner == SEG_USER_ARRAY,
		};
		id = next;
	}
	return 0;
}

static int
add_table(struct tail *t, const struct seg_extent *x)
{
	struct table *more;

	if (charge(t, sizeof(*more) + (size_t)x->count * x->row_bytes) < 0)
		return -EFBIG;
	more = reallocarray(t->tables, t->table_count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->tables = more;
	more += t->table_count;
	*more = (struct table){.extent = *x};
	more->told = calloc(x->count, x->row_bytes);
	if (!more->told)
		return -ENOMEM;
	t->table_count++;
	return 0;
}

static int
add_extent(struct look *l, const struct seg_extent *x)
{
	uint64_t bytes = (uint64_t)x->count * x->row_bytes;

	if (x->row_bytes == 0 || x->row_bytes > SEGMENT_MAX_ROW ||
	    x->offset > l->limit || bytes > l->limit - x->offset ||
	    x->first > UINT64_MAX - x->count)
		return -EBADMSG;
	if (x->kind == SEG_EXT_LEDGER || x->kind == SEG_EXT_SAMPLE)
		return add_pieces(l->tail, x);
	if (tables_in_time_line(x->kind))
		return add_table(l->tail, x);
	return 0; /* in the end state only */
}

static int
know_room(struct tail *t, uint32_t used)
{
	uint8_t *known;

	if (used <= t->dir_room)
		return 0;
	known = realloc(t->dir_known, used);
	if (!known)
		return -ENOMEM;
	memset(known + t->dir_room, 0, used - t->dir_room);
	t->dir_known = known;
	t->dir_room = used;
	return 0;
}

/* Is what the new entries claim in the file, at least in part? */
static int
check_claims(struct look *l, const struct seg_extent *dir, const uint8_t *known,
    uint32_t n)
{
	uint64_t claimed = l->tail->claimed;

	for (uint32_t i = 0; i < n; i++)
		if (!known[i] && dir[i].kind != SEG_EXT_NONE)
			claimed += (uint64_t)dir[i].count * dir[i].row_bytes;
	if (!holes_allow(l->source->fd, l->base, l->limit, claimed))
		return -EBADMSG;
	l->tail->claimed = claimed;
	return 0;
}

/* Entries become valid in any order: begun ones are looked at again. */
static int
read_directory(struct look *l, const struct seg_header *h)
{
	struct tail *t = l->tail;
	uint32_t used =
	    h->dir_used < h->dir_capacity ? h->dir_used : h->dir_capacity;
	struct seg_extent *dir;
	int err;

	if (used <= t->dir_done)
		return 0;
	if (used > SEGMENT_MAX_EXTENTS)
		return -EBADMSG;
	err = know_room(t, used);
	if (err < 0)
		return err;
	dir = calloc(used - t->dir_done, sizeof(*dir));
	if (!dir)
		return -ENOMEM;
	err = look_read(l, h->dir_offset + (uint64_t)t->dir_done * sizeof(*dir),
	    dir, (used - t->dir_done) * sizeof(*dir));
	if (err == 0)
		err = check_claims(
		    l, dir, t->dir_known + t->dir_done, used - t->dir_done);
	for (uint32_t i = t->dir_done; i < used && err == 0; i++) {
		struct seg_extent *x = &dir[i - t->dir_done];

		if (t->dir_known[i] || x->kind == SEG_EXT_NONE)
			continue;
		if (x->kind == SEG_EXT_STRING && x->row_bytes == 0)
			x->row_bytes = 1;
		err = x->count ? add_extent(l, x) : 0;
		t->dir_known[i] = err == 0;
	}
	free(dir);
	while (t->dir_done < used && t->dir_known[t->dir_done])
		t->dir_done++;
	return err;
}

/* ---- the ledger ---- */

static void
add_frees(struct codec_sum *sums, const struct piece *p, const uint8_t *rows)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct codec_sum *s = &sums[p->first + i];
		struct seg_row row;

		memcpy(&row, rows + (size_t)i * p->row_bytes, sizeof(row));
		s->frees += row.frees;
		s->freed_bytes += row.freed_bytes;
	}
}

/* The rows hold the estimates; these say how good they are. */
static void
add_samples(struct look *l, struct codec_sum *sums, const struct piece *p,
    const uint8_t *rows)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct codec_sum *s = &sums[p->first + i];
		struct seg_sample row = {0};

		memcpy(&row, rows + (size_t)i * p->row_bytes,
		    p->row_bytes < sizeof(row) ? p->row_bytes : sizeof(row));
		s->samples += row.samples;
		s->variance_allocated += seg_wide_of(
		    row.variance_allocated, row.variance_allocated_high);
		s->variance_freed +=
		    seg_wide_of(row.variance_freed, row.variance_freed_high);
		l->samples |= row.samples > 0;
	}
}

static void
add_rest(struct look *l, struct codec_sum *sums, const struct piece *p,
    const uint8_t *rows)
{
	for (uint32_t i = 0; i < p->count; i++) {
		struct codec_sum *s = &sums[p->first + i];
		struct rows_share peak;
		struct seg_row row;

		memcpy(&row, rows + (size_t)i * p->row_bytes, sizeof(row));
		s->allocations += row.allocations;
		s->allocated_bytes += row.allocated_bytes;
		l->is_user[p->first + i] |= p->is_user && row.allocations > 0;
		peak = rows_at_peak(&row, l->epoch);
		s->peak_bytes =
		    (int64_t)((uint64_t)s->peak_bytes + (uint64_t)peak.bytes);
		s->peak_blocks =
		    (int64_t)((uint64_t)s->peak_blocks + (uint64_t)peak.blocks);
	}
}

static bool
is_same(const struct codec_sum *was, const struct codec_sum *is, bool new_peak)
{
	if (was->allocations != is->allocations ||
	    was->allocated_bytes != is->allocated_bytes ||
	    was->frees != is->frees || was->freed_bytes != is->freed_bytes ||
	    was->samples != is->samples ||
	    was->variance_allocated != is->variance_allocated ||
	    was->variance_freed != is->variance_freed)
		return false;
	if (new_peak)
		return is->peak_bytes ==
		    (int64_t)(is->allocated_bytes - is->freed_bytes) &&
		    is->peak_blocks == (int64_t)(is->allocations - is->frees);
	return was->peak_bytes == is->peak_bytes &&
	    was->peak_blocks == is->peak_blocks;
}

static void
tell_row(struct look *l, uint64_t id, const struct codec_sum *was,
    const struct codec_sum *is)
{
	struct codec_out *column = l->tail->column;
	int64_t value[CODEC_COLUMNS], samples[CODEC_WIDE_COLUMNS];

	codec_encode(was, is, l->new_peak, value);
	codec_put(&column[0], id - l->last_id);
	for (int i = 0; i < CODEC_COLUMNS; i++)
		codec_put_signed(&column[i + 1], value[i]);
	codec_encode_samples(was, is, samples);
	for (int i = 0; i < CODEC_WIDE_COLUMNS; i++)
		codec_put_signed(&column[CODEC_COLUMNS + 1 + i], samples[i]);
	l->wide |= samples[3] != 0 || samples[4] != 0;
	l->last_id = id;
	l->changed++;
}

static void
add_totals(struct codec_sum *totals, const struct codec_sum *s)
{
	totals->allocations += s->allocations;
	totals->allocated_bytes += s->allocated_bytes;
	totals->frees += s->frees;
	totals->freed_bytes += s->freed_bytes;
}

/* All arrays' rows of these ids: frees first, the rest in a second pass. */
static int
sum_block(struct look *l, const struct block *b, struct codec_sum *sums)
{
	memset(sums, 0, BLOCK_ROWS * sizeof(*sums));
	memset(l->is_user, 0, sizeof(l->is_user));
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < b->piece_count; i++) {
			const struct piece *p = &b->pieces[i];
			size_t len = (size_t)p->count * p->row_bytes;
			uint8_t *rows = buffer_of(l->tail, len);
			int err;

			if (!rows)
				return -ENOMEM;
			if (p->is_sample && pass == 0)
				continue;
			err = look_read(l, p->offset, rows, len);
			if (err < 0)
				return err;
			if (p->is_sample)
				add_samples(l, sums, p, rows);
			else if (pass == 0)
				add_frees(sums, p, rows);
			else
				add_rest(l, sums, p, rows);
		}
	}
	return 0;
}

static int
look_at_block(struct look *l, const struct block *b, struct codec_sum *sums)
{
	struct steady steady = steady_begin();
	int err;

	do
		err = sum_block(l, b, sums);
	while (err == 0 && l->source->fd >= 0 && steady_was_late(&steady));
	return err;
}

static int
read_ledger(struct look *l)
{
	struct tail *t = l->tail;

	for (size_t n = 0; n < t->block_room; n++) {
		struct codec_sum sums[BLOCK_ROWS];
		struct block *b = t->blocks[n];
		int err;

		if (!b)
			continue;
		err = look_at_block(l, b, sums);
		if (err < 0)
			return err;
		for (size_t i = 0; i < BLOCK_ROWS; i++) {
			struct codec_sum *was = &b->told[i];

			if (!l->is_user[i])
				add_totals(&l->totals, &sums[i]);
			if (!l->rows || is_same(was, &sums[i], l->new_peak)) {
				if (l->rows && l->new_peak)
					codec_new_peak(was);
				continue;
			}
			t->sites += was->allocations == 0 && was->frees == 0;
			tell_row(l, (n << BLOCK_BITS) + i, was, &sums[i]);
			*was = sums[i];
		}
	}
	return 0;
}

/* ---- items ---- */

static void
put_totals(struct tail *t, const struct codec_sum *now, struct codec_out *out)
{
	struct codec_out body = {0};
	struct codec_sum *was = &t->totals;

	if (now->allocations == was->allocations &&
	    now->allocated_bytes == was->allocated_bytes &&
	    now->frees == was->frees && now->freed_bytes == was->freed_bytes)
		return;
	codec_put(&body, t->number);
	codec_put_signed(&body, (int64_t)(now->allocations - was->allocations));
	codec_put_signed(
	    &body, (int64_t)(now->allocated_bytes - was->allocated_bytes));
	codec_put_signed(&body, (int64_t)(now->frees - was->frees));
	codec_put_signed(&body, (int64_t)(now->freed_bytes - was->freed_bytes));
	codec_put_item(out, CODEC_TOTALS, &body);
	codec_release(&body);
	*was = *now;
}

static void
put_header(struct tail *t, const struct seg_header *h, struct codec_out *out)
{
	uint64_t words[HEADER_WORDS];
	struct codec_out body = {0};
	uint64_t gap = 0;

	memcpy(words, h, sizeof(words));
	codec_put(&body, t->number);
	for (size_t i = 0; i < HEADER_WORDS; i++, gap++) {
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

static void
put_ledger(struct look *l, struct codec_out *out)
{
	struct codec_out *column = l->tail->column;
	struct codec_out body = {0};
	uint32_t flags = 0;
	int columns = CODEC_COLUMNS + 1;

	if (l->changed == 0 && !l->new_peak)
		return;
	flags |= l->new_peak ? CODEC_NEW_PEAK : 0;
	flags |= l->samples ? CODEC_SAMPLES : 0;
	flags |= l->samples && l->wide ? CODEC_WIDE : 0;
	columns += codec_sample_columns(flags);
	codec_put(&body, l->tail->number);
	codec_put(&body, flags);
	codec_put(&body, l->changed);
	for (int i = 0; i < columns; i++) {
		body.failed |= column[i].failed;
		codec_put_bytes(&body, column[i].bytes, column[i].len);
	}
	codec_put_item(out, CODEC_LEDGER, &body);
	codec_release(&body);
}

static void
put_rows(const struct tail *t, const struct seg_extent *x, uint32_t first,
    uint32_t count, const uint8_t *rows, struct codec_out *out)
{
	struct codec_out body = {0};

	codec_put(&body, t->number);
	codec_put(&body, x->kind);
	codec_put(&body, x->row_bytes);
	codec_put(&body, x->first + first);
	codec_put_bytes(&body, rows + (size_t)first * x->row_bytes,
	    (size_t)count * x->row_bytes);
	codec_put_item(out, CODEC_ROWS, &body);
	codec_release(&body);
}

/* Every row in use, in a table whose rows never change once they are. */
static bool
is_finished(const struct seg_extent *x, const uint8_t *rows)
{
	if (x->kind != SEG_EXT_NODE && x->kind != SEG_EXT_INNER &&
	    x->kind != SEG_EXT_SITE)
		return false;
	for (uint32_t i = 0; i < x->count; i++)
		if (rows_is_zero(rows + (size_t)i * x->row_bytes, x->row_bytes))
			return false;
	return true;
}

static void
tell_rows(const struct tail *tail, const struct table *t, const uint8_t *now,
    struct codec_out *out)
{
	const struct seg_extent *x = &t->extent;

	for (uint32_t i = 0, n; i < x->count; i = n + 1) {
		for (n = i; n < x->count; n++) {
			size_t at = (size_t)n * x->row_bytes;

			if (!memcmp(now + at, t->told + at, x->row_bytes))
				break;
		}
		if (n > i)
			put_rows(tail, x, i, n - i, now, out);
	}
}

static int
look_at_table(struct look *l, struct table *t, struct codec_out *out)
{
	size_t len = (size_t)t->extent.count * t->extent.row_bytes;
	uint8_t *now;
	int err;

	if (!t->told)
		return 0;
	now = buffer_of(l->tail, len);
	if (!now)
		return -ENOMEM;
	err = look_read(l, t->extent.offset, now, len);
	if (err < 0)
		return err;
	if (memcmp(now, t->told, len) != 0) {
		tell_rows(l->tail, t, now, out);
		memcpy(t->told, now, len);
		l->tail->module_changes += t->extent.kind == SEG_EXT_MODULE;
	} else if (is_finished(&t->extent, now)) {
		/* seen twice: the last row was not caught half written */
		free(t->told);
		t->told = NULL;
	}
	return 0;
}

static int
read_tables(struct look *l, struct codec_out *out)
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

static void
put_begin(struct tail *t, struct codec_out *out)
{
	struct codec_out body = {0};

	if (t->begun)
		return;
	codec_put(&body, t->number);
	codec_put_item(out, CODEC_PROCESS, &body);
	codec_release(&body);
	t->begun = true;
}

int
tail_look(struct tail *t, const struct segfile *f, int slot, bool rows,
    struct codec_out *out, struct seg_header *ret_header)
{
	struct look l = {.tail = t, .source = segfile_source(f), .rows = rows};
	int err;

	err = segfile_header(f, slot, ret_header, NULL);
	if (err == 0)
		err = segfile_window(f, slot, &l.base, &l.limit);
	if (err == 0)
		err = read_directory(&l, ret_header);
	if (err < 0)
		return err;
	for (size_t i = 0; i < sizeof(t->column) / sizeof(t->column[0]); i++)
		t->column[i].len = 0;
	l.epoch = (uint32_t)ret_header->peak_epoch;
	l.new_peak = rows && l.epoch != t->peak_epoch;
	/* from here on what is told is put: a failure ends this tail */
	put_begin(t, out);
	err = read_ledger(&l);
	if (err < 0)
		return err;
	put_totals(t, &l.totals, out);
	if (!rows)
		return out->failed ? -ENOMEM : 0;
	t->peak_epoch = l.epoch;
	put_header(t, ret_header, out);
	put_ledger(&l, out);
	/* the directory has grown by what the ledger's ids refer to */
	if (segfile_header(f, slot, ret_header, NULL) == 0 &&
	    read_directory(&l, ret_header) == 0)
		err = read_tables(&l, out);
	return out->failed ? -ENOMEM : err;
}

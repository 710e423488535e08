/* memlog.c - libmtrace's report: bytes of each stack, or their change. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/texts.h"
#include "kit/data/room.h"
#include "view/sites/enum_words.h"
#include "kit/os/infile.h"
#include "kit/data/capped.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

/*
 * The file, as libmtrace writes it: for each stack a line with its bytes and
 * their sign, then a line for each frame, the innermost first:
 *
 *	+63360
 *		function	(/path/of/module)
 *		/path/of/module+0x1b7
 *
 * Stacks that read the same are one entry; entries of 0 bytes are left out; the
 * largest comes first. Every report of a process is an increment: all reports
 * of it together sum up to what it holds.
 */
enum { FRAMES = 10 }; /* as in libmtrace, which fixes it at build time */

struct row {
	size_t at; /* of the stack in the text, NUL at its end */
	const char *stack;
	int64_t bytes;
};

struct memlog {
	struct row *rows;
	size_t count, room;
	FILE *memory; /* makes the text */
	char *text;   /* stacks of all rows */
	size_t len;
};

/* ---- stacks ---- */

static void put_frame(FILE *out, const struct frame *f)
{
	(void)putc('\t', out);
	if (f->is_missing) {
		text_print(out, f->function);
	} else if (f->function) {
		text_print(out, f->function);
		(void)fputs("\t(", out);
		text_print(out, f->module ? f->module : "");
		(void)putc(')', out);
	} else {
		text_print(out, f->module ? f->module : "");
		(void)fprintf(out, "%s0x%" PRIx64, f->module ? "+" : "", f->offset);
	}
	(void)putc('\n', out);
}

/* A row whose stack is written next; the stack ends with end_row(). */
static int begin_row(struct memlog *m, int64_t bytes)
{
	long at = ftell(m->memory);

	if (at < 0 || room_make(&m->rows, &m->room, m->count, sizeof(*m->rows)) < 0)
		return -ENOMEM;
	m->rows[m->count++] = (struct row){.at = (size_t)at, .bytes = bytes};
	return 0;
}

static void end_row(struct memlog *m)
{
	(void)putc('\0', m->memory);
}

static int add_sites(struct memlog *m, const struct view *v, unsigned depth)
{
	struct texts *texts = NULL;
	int err = texts_new(v, put_frame, &texts);

	for (size_t i = 0; i < v->site_count && err == 0; i++) {
		const struct view_site *s = &v->sites[i];

		err = begin_row(
		    m, capped_change(s->figures.all.live_bytes, s->before.all.live_bytes));
		for (uint32_t k = 0; k < s->frame_count && k < depth && err == 0; k++)
			texts_put(texts, s->frames[k], m->memory);
		if (err == 0)
			end_row(m);
	}
	texts_free(texts);
	return err;
}

/* ---- reports that were written before ---- */

/* "+63360", "-12": bytes of an entry. */
static bool is_bytes(const char *line, int64_t *ret)
{
	char *end;

	if ((*line != '+' && *line != '-') || line[1 + strspn(line + 1, "0123456789")] != '\n' ||
	    line[1] == '\n')
		return false;
	*ret = strtoll(line, &end, 10);
	return true;
}

/* Subtracts the figures of an earlier report. */
static int take_off(struct memlog *m, const char *path)
{
	int fd = infile_open_nofollow(AT_FDCWD, path);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	bool is_open = false;
	int64_t bytes;
	int err = 0;

	if (!in)
		return fd < 0 ? fd : -errno;
	while (err == 0 && getline(&line, &room, in) > 0) {
		if (is_open && *line == '\t') {
			(void)fputs(line, m->memory);
			continue;
		}
		if (is_open)
			end_row(m);
		is_open = is_bytes(line, &bytes);
		if (is_open)
			err = begin_row(m, bytes == INT64_MIN ? INT64_MAX : -bytes);
	}
	if (is_open)
		end_row(m);
	if (err == 0 && ferror(in))
		err = -EIO;
	free(line);
	(void)fclose(in);
	return err;
}

/* ---- the report ---- */

BY(by_stack, struct row, strcmp(x->stack, y->stack))

BY(larger, struct row, DOWN(bytes) ?: strcmp(x->stack, y->stack))

/* Equal stacks become one row, so that growth and shrinkage cancel out. */
static int join_rows(struct memlog *m)
{
	size_t kept = 0;

	if (fclose(m->memory) != 0) {
		m->memory = NULL;
		return -ENOMEM;
	}
	m->memory = NULL;
	for (size_t i = 0; i < m->count; i++)
		m->rows[i].stack = m->text + m->rows[i].at;
	if (m->count > 0)
		qsort(m->rows, m->count, sizeof(*m->rows), by_stack);
	for (size_t i = 0; i < m->count; i++) {
		struct row *last = kept > 0 ? &m->rows[kept - 1] : NULL;

		if (last && strcmp(last->stack, m->rows[i].stack) == 0)
			last->bytes = capped_sum_signed(last->bytes, m->rows[i].bytes);
		else
			m->rows[kept++] = m->rows[i];
	}
	m->count = kept;
	if (kept > 0)
		qsort(m->rows, kept, sizeof(*m->rows), larger);
	return 0;
}

static int write_memlog(FILE *out, const struct view *v, const struct export_options *o)
{
	struct memlog m = {0};
	size_t told = 0;
	int err = -ENOMEM;

	m.memory = open_memstream(&m.text, &m.len);
	if (!m.memory)
		return -ENOMEM;
	err = add_sites(&m, v, o->depth ? o->depth : FRAMES);
	for (size_t i = 0; i < o->previous_count && err == 0; i++)
		err = take_off(&m, o->previous[i]);
	if (err == 0)
		err = join_rows(&m);
	for (size_t i = 0; i < m.count && err == 0; i++) {
		if (m.rows[i].bytes == 0 || (o->top > 0 && told >= o->top))
			continue;
		told++;
		(void)fprintf(out, "%+" PRId64 "\n%s", m.rows[i].bytes, m.rows[i].stack);
	}
	if (m.memory)
		(void)fclose(m.memory);
	free(m.rows);
	free(m.text);
	return err < 0 ? err : ferror(out) ? -EIO : 0;
}

const struct export_format export_memlog = {
    .name = "memlog",
    .extension = ".memlog",
    .what = "libmtrace's report: bytes of each stack, largest first",
    .flags = EXPORT_SINCE | EXPORT_TOP | EXPORT_INCREMENTS,
    .write = write_memlog,
};

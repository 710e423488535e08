/* layout.c - makes lines fit the width of the terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/layout.h"

#include <wchar.h>

#include "kit/data/room.h"
#include "kit/words/text.h"
#include "view/sites/enum_words.h"
#include "view/stacks/blame.h"

/* columns for a name, before its line goes; for a line, before it vanishes */
enum { NAME_MIN = 16, TAIL_MIN = 4, ROOM_MIN = 8 };

const char *layout_colour(const struct layout *p, int colour)
{
	static const char *const codes[] = {
	    [LAYOUT_PLAIN] = "\033[0m",
	    [LAYOUT_STRONG] = "\033[1m",
	    [LAYOUT_DIM] = "\033[2m",
	    [LAYOUT_MORE] = "\033[31m",
	    [LAYOUT_LESS] = "\033[32m",
	};

	return p->colour ? codes[colour] : "";
}

/* Columns of the character at text, which is already escaped. */
static size_t columns_of(const char *text, size_t bytes)
{
	int n;

	if (bytes == 1)
		return 1;
	n = wcwidth((wchar_t)text_decode(text, bytes));
	return n < 0 ? 1 : (size_t)n;
}

/* Escaped, for free(); NULL: out of memory. */
static char *escaped(const char *text)
{
	char *copy = NULL;
	size_t len;
	FILE *memory = open_memstream(&copy, &len);

	if (!memory)
		return NULL;
	text_print(memory, text);
	if (fclose(memory) != 0) {
		free(copy);
		return NULL;
	}
	return copy;
}

static size_t measure_bytes(const char *clean, size_t bytes)
{
	const char *end = clean + bytes;
	size_t columns = 0, n;

	for (; clean < end; clean += n) {
		n = text_utf8(clean);
		n = n ? n : 1;
		columns += columns_of(clean, n);
	}
	return columns;
}

static size_t measure(const char *clean)
{
	return measure_bytes(clean, strlen(clean));
}

size_t layout_columns(const char *text)
{
	char *clean = escaped(text);
	size_t n = measure(clean ? clean : text);

	free(clean);
	return n;
}

/* The first byte after at most `room` columns. */
static const char *after(const char *clean, size_t room)
{
	for (size_t n; *clean; clean += n) {
		size_t columns;

		n = text_utf8(clean);
		n = n ? n : 1;
		columns = columns_of(clean, n);
		if (columns > room)
			break;
		room -= columns;
	}
	return clean;
}

void layout_fit(const struct layout *p, const char *text, size_t room)
{
	char *clean = escaped(text);
	const char *dots = p->utf8 ? "\xe2\x80\xa6" : "..";
	size_t all, left, skip, dot = p->utf8 ? 1 : 2;

	if (!clean)
		return;
	all = measure(clean);
	if (room == 0 || all <= room) {
		(void)fputs(clean, p->out);
	} else if (room <= dot) {
		(void)fwrite(clean, 1, (size_t)(after(clean, room) - clean), p->out);
	} else {
		left = (room - dot + 1) / 2;
		skip = all - (room - dot - left);
		(void)fwrite(clean, 1, (size_t)(after(clean, left) - clean), p->out);
		(void)fputs(dots, p->out);
		(void)fputs(after(clean, skip), p->out);
	}
	free(clean);
}

/* "libfoo.so+0x12" and the like; for free(). NULL: out of memory. */
static char *name_of(const struct layout *p, const struct frame *x)
{
	const char *base = text_base(x->module);
	char *text;
	int n;

	if (x->function && (p->full_names || x->is_missing))
		return strdup(x->function);
	if (x->function)
		return shorten_name(x->function);
	if (x->module)
		n = asprintf(&text, "%s+0x%" PRIx64, *base ? base : "(unnamed module)", x->offset);
	else
		n = asprintf(&text, "0x%" PRIx64, x->offset);
	return n < 0 ? NULL : text;
}

/* " file.c:12 [lib.so] (recursive, 3 deep)"; for free(). */
static char *tail_of(
    const struct layout *p, const struct frame *x, uint32_t repeats, bool with_module)
{
	const char *base = text_base(x->module);
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return NULL;
	if (x->file)
		(void)fprintf(memory, " %s", text_base(x->file));
	if (x->file && x->line > 0)
		(void)fprintf(memory, ":%" PRIu32, x->line);
	if (with_module && x->function && base && (!x->is_main || !x->file || p->programs))
		(void)fprintf(memory, " [%s]", base);
	if (repeats > 1)
		(void)fprintf(memory, " (recursive, %" PRIu32 " deep)", repeats);
	if (fclose(memory) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Columns for name and tail so that both fit; 0: no limit. */
struct rooms {
	size_t name, tail;
};

/* The name is shortened first, then what follows it. */
static struct rooms share_room(const char *name, const char *tail, size_t room)
{
	size_t n = layout_columns(name), t = layout_columns(tail);
	struct rooms r = {0};

	if (room == 0 || n + t <= room)
		return r;
	r.name = room > t + NAME_MIN ? room - t : NAME_MIN;
	if (r.name > n)
		r.name = n;
	r.tail = room > r.name ? room - r.name : 1;
	return r;
}

bool layout_lacks_has(void *context, const char *path)
{
	const struct layout_lacks *l = context;

	for (size_t i = 0; i < l->count; i++) {
		const char *m = l->modules[i];

		/* for a relative path, names/ knows where the file is */
		if (strcmp(m, path) == 0 ||
		    (*m && *m != '/' && strcmp(text_base(m), text_base(path)) == 0))
			return true;
	}
	return false;
}

/* If memory runs out, a note is missing. */
static void note_lack(struct layout_lacks *l, const struct frame *x)
{
	const char *module = x->module ? x->module : "";

	if (x->function || x->is_missing || layout_lacks_has(l, module) ||
	    room_make(&l->modules, &l->room, l->count, sizeof(const char *)) < 0)
		return;
	l->modules[l->count++] = module;
}

void layout_frame(
    const struct layout *p, const struct frame *x, uint32_t repeats, size_t used, int colour)
{
	char *name = name_of(p, x), *tail = tail_of(p, x, repeats, true);
	size_t room = 0;
	struct rooms r;

	if (p->lacks)
		note_lack(p->lacks, x);
	if (p->width > 0)
		room = p->width > used + NAME_MIN ? p->width - used : NAME_MIN;
	/* the file is known, so the module is not needed */
	if (name && tail && x->file && share_room(name, tail, room).name > 0) {
		free(tail);
		tail = tail_of(p, x, repeats, false);
	}
	if (!name || !tail)
		goto out;
	r = share_room(name, tail, room);
	(void)fputs(layout_colour(p, colour), p->out);
	layout_fit(p, name, r.name);
	(void)fputs(colour != LAYOUT_PLAIN ? layout_colour(p, LAYOUT_PLAIN) : "", p->out);
	if (*tail && (r.tail == 0 || r.tail > TAIL_MIN)) {
		(void)fputs(layout_colour(p, LAYOUT_DIM), p->out);
		layout_fit(p, tail, r.tail);
		(void)fputs(layout_colour(p, LAYOUT_PLAIN), p->out);
	}
out:
	free(name);
	free(tail);
}

void layout_paragraph(const struct layout *p, const char *text, size_t used)
{
	size_t column = used;

	while (*text) {
		size_t spaces = strspn(text, " ");
		const char *word = text + spaces;
		size_t bytes = strcspn(word, " \n"), columns;

		columns = measure_bytes(word, bytes);
		if (spaces > 0 && column > 0 && bytes > 0) {
			bool full = p->width > 0 && column + 1 + columns > p->width;

			(void)putc(full ? '\n' : ' ', p->out);
			column = full ? 0 : column + 1;
		}
		(void)fwrite(word, 1, bytes, p->out);
		column += columns;
		text = word + bytes;
		if (*text == '\n') {
			(void)putc('\n', p->out);
			column = 0;
			text++;
		}
	}
}

size_t layout_room(const struct layout *p, size_t used)
{
	if (p->width == 0)
		return 0;
	return p->width > used + ROOM_MIN ? p->width - used : ROOM_MIN;
}

void layout_begin(const struct layout *p, struct layout_text *t)
{
	*t = (struct layout_text){0};
	t->file = open_memstream(&t->text, &t->len);
	if (!t->file)
		t->file = p->out;
}

void layout_end(const struct layout *p, struct layout_text *t)
{
	if (t->file == p->out)
		return;
	if (fclose(t->file) == 0)
		layout_paragraph(p, t->text, 0);
	free(t->text);
}

/* ---- hanging: lines behind a word: all but the first are indented ---- */

bool hanging_begin(const struct layout *p, struct hanging *h)
{
	*h = (struct hanging){.page = *p};
	h->page.colour = false;
	h->page.width = p->width > 2 * HANGING_INDENT ? p->width - HANGING_INDENT : 0;
	h->page.out = open_memstream(&h->text, &h->len);
	return h->page.out != NULL;
}

void hanging_end(const struct layout *p, struct hanging *h, const char *head)
{
	struct layout narrow = h->page;
	char *wrapped = NULL, *line, *rest;
	size_t len;

	if (fclose(h->page.out) != 0)
		goto out;
	narrow.out = open_memstream(&wrapped, &len);
	if (!narrow.out)
		goto out;
	layout_paragraph(&narrow, h->text, 0);
	if (fclose(narrow.out) != 0)
		goto out;
	for (line = strtok_r(wrapped, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (head)
			(void)fprintf(p->out, "%s%-*s%s", layout_colour(p, LAYOUT_STRONG),
			    HANGING_INDENT, head, layout_colour(p, LAYOUT_PLAIN));
		else
			(void)fprintf(p->out, "%*s", HANGING_INDENT, "");
		(void)fprintf(p->out, "%s\n", line);
		head = NULL;
	}
out:
	free(wrapped);
	free(h->text);
}

/* ---- spark: draws figures over time as one short line of block characters ---- */

enum { POINTS_MIN = 3, BLOCKS = 8, DIGITS = 10, WIDTH_MIN = 8 };

/*
 * The highest figure in each column; a column without points repeats the
 * previous
 */
static uint64_t fill(
    const struct process_point *points, size_t count, size_t width, uint64_t *columns)
{
	uint64_t first = points[0].time_us;
	uint64_t span = points[count - 1].time_us - first;
	uint64_t highest = 0, last = 0;
	size_t i = 0;

	for (size_t c = 0; c < width; c++) {
		uint64_t end = first + span / width * (c + 1);

		columns[c] = last;
		while (i < count && (points[i].time_us <= end || c + 1 == width)) {
			last = points[i++].live_bytes;
			if (last > columns[c])
				columns[c] = last;
		}
		if (columns[c] > highest)
			highest = columns[c];
	}
	return highest;
}

void spark_write(
    const struct layout *p, const char *what, const struct process_point *points, size_t count)
{
	uint64_t columns[SPARK_WIDTH], highest;
	char a[WORDS_MAX];
	size_t width = SPARK_WIDTH, words;

	if (count < POINTS_MIN)
		return;
	(void)words_time(a, (points[count - 1].time_us - points[0].time_us) * 1000);
	/* " over ", ": ", " up to 1023.9 MiB." */
	words = strlen(what) + strlen(a) + 6 + 2 + 18;
	if (p->width > 0 && p->width < words + width)
		width = p->width > words + WIDTH_MIN ? p->width - words : WIDTH_MIN;
	if (count < width)
		width = count;
	highest = fill(points, count, width, columns);
	(void)fprintf(p->out, "%s over %s: ", what, a);
	for (size_t c = 0; c < width; c++) {
		double part = highest ? (double)columns[c] / (double)highest : 0;
		unsigned n = (unsigned)(part * ((p->utf8 ? BLOCKS : DIGITS) - 1) + 0.5);

		if (p->utf8)
			/* U+2581 .. U+2588 */
			(void)fprintf(p->out, "\xe2\x96%c", (char)(0x81 + n));
		else
			(void)putc((int)('0' + n), p->out);
	}
	(void)fprintf(p->out, " up to %s.\n", WORDS_BYTES(highest));
}

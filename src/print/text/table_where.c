/* table_where.c - the frames that a row of the table shows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/table_parts.h"

#include "base/std.h"
enum {
	FRAME_MIN = 20, /* columns, whatever the width */
	ARROW = 4,      /* " <- " */
};

/* The frame as one text; the caller frees it. */
static char *frame_text(const struct layout *p, const struct frame *x, uint32_t repeats, bool full)
{
	char *text = NULL;
	size_t len;
	struct layout plain = {.out = open_memstream(&text, &len),
	    .full_names = p->full_names || full,
	    .programs = p->programs,
	    .lacks = p->lacks};

	if (!plain.out)
		return NULL;
	layout_frame(&plain, x, repeats, 0, LAYOUT_PLAIN);
	if (fclose(plain.out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* Says that callers follow; omitted if out of memory. */
static void add_more(char **text)
{
	char *longer;

	if (asprintf(&longer, "%s <- ...", *text) < 0)
		return;
	free(*text);
	*text = longer;
}

/* The frames of a stack that a row shows. */
struct where {
	char **texts; /* the user's own, what it calls, its callers */
	size_t count;
	size_t inner; /* how many of them it calls */
};

static void where_release(struct where *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->texts[i]);
	free(w->texts);
}

/* Does the row show this frame of its stack? */
static bool is_shown(const struct table_site *row, const struct view_site *s, uint32_t at)
{
	if (row->frames == 0 || at == s->own || at + 1 == s->own ||
	    (at > s->own && at - s->own < row->frames))
		return true;
	for (uint32_t i = 0; i < row->extra_count; i++)
		if (row->extra[i] == at)
			return true;
	return false;
}

/* Adds a frame; `skipped`: some frames before it are not shown. -ENOMEM. */
static int where_add(struct where *w, const struct table_printer *x, const struct table_site *row,
    uint32_t at, const char *skipped)
{
	const struct view_site *s = &x->view->sites[row->site];
	char *text = frame_text(x->page, &x->view->frames[s->frames[at]],
	    s->repeats ? s->repeats[at] : 1, row->is_full && at < s->own);
	char *longer;

	if (text && *skipped) {
		if (asprintf(&longer, "%s%s", skipped, text) < 0)
			longer = NULL;
		free(text);
		text = longer;
	}
	if (!text)
		return -ENOMEM;
	w->texts[w->count++] = text;
	return 0;
}

/* Gives fewer texts if out of memory. */
static void where_init(struct where *w, const struct table_printer *x, const struct table_site *row)
{
	const struct view_site *s = &x->view->sites[row->site];
	bool skips = false;

	*w = (struct where){.texts = calloc((size_t)s->frame_count + 1, sizeof(char *))};
	if (!w->texts || s->frame_count == 0)
		return;
	for (uint32_t at = s->own + 1; at-- > 0;) {
		if (!is_shown(row, s, at)) {
			skips = true;
			continue;
		}
		if (where_add(w, x, row, at, skips ? "... -> " : "") < 0)
			return;
		w->inner += at < s->own;
		skips = false;
	}
	skips = false;
	for (uint32_t at = s->own + 1; at < s->frame_count; at++) {
		if (!is_shown(row, s, at)) {
			skips = true;
			continue;
		}
		if (where_add(w, x, row, at, skips ? "... <- " : "") < 0)
			return;
		skips = false;
	}
	if (skips)
		add_more(&w->texts[w->count - 1]);
}

/*
 * Prints one more frame of a stack after `used` columns, on a new line if it
 * does not fit; returns the columns that are used then.
 */
static size_t print_frame(const struct layout *p, const char *text, const char *arrow, size_t used)
{
	size_t columns = layout_columns(text);
	size_t room = p->width > used ? p->width - used : 0;

	if (arrow && p->width > 0 && ARROW + columns > room) {
		(void)fprintf(p->out, "\n%*s%s ", TABLE_WHERE_INDENT, "", arrow);
		used = TABLE_WHERE_INDENT + ARROW - 1;
		room = p->width > used + FRAME_MIN ? p->width - used : FRAME_MIN;
	} else if (arrow) {
		(void)fprintf(p->out, " %s ", arrow);
		used += ARROW;
		room -= p->width > 0 ? ARROW : 0;
	}
	if (p->width > 0 && room < FRAME_MIN)
		room = FRAME_MIN;
	layout_fit(p, text, p->width > 0 ? room : 0);
	return used + columns;
}

void table_print_where(const struct table_printer *x, const struct table_site *row, size_t used)
{
	const struct layout *p = x->page;
	struct where w;

	where_init(&w, x, row);
	used += (size_t)fprintf(
	    p->out, "%s%s", enum_words_api(x->view->sites[row->site].api), w.count ? " in " : "");
	for (size_t i = 0; i < w.count; i++)
		used = print_frame(p, w.texts[i], i == 0 ? NULL : i <= w.inner ? "->" : "<-", used);
	where_release(&w);
}

/* ---- rows that look alike ---- */

/*
 * A row and the text that it shows, which the caller frees; NULL: out of
 * memory.
 */
struct look {
	struct table_site *row;
	char *text;
};

static char *look_of(const struct table_printer *x, const struct table_site *row)
{
	char *text = NULL;
	size_t len;
	struct where w;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	where_init(&w, x, row);
	(void)fputs(enum_words_api(x->view->sites[row->site].api), out);
	for (size_t i = 0; i < w.count; i++)
		(void)fprintf(out, " %s", w.texts[i]);
	where_release(&w);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int by_look(const void *a, const void *b)
{
	const struct look *x = a, *y = b;

	return strcmp(x->text ? x->text : "", y->text ? y->text : "");
}

/*
 * The frame at this distance from the user's own; negative: functions that it
 * calls.
 */
static uint32_t frame_beside(const struct view_site *s, int64_t steps)
{
	int64_t at = (int64_t)s->own + steps;

	return at >= 0 && at < (int64_t)s->frame_count ? s->frames[at] : UINT32_MAX;
}

/*
 * The distance from the user's own frame, which both rows show, at which two
 * stacks first differ and a does not show it yet. Functions that it calls come
 * before its callers. 0: nowhere.
 */
static int64_t difference(
    const struct table_site *row, const struct view_site *a, const struct view_site *b)
{
	int64_t most = a->frame_count > b->frame_count ? a->frame_count : b->frame_count;

	for (int way = -1; way <= 1; way += 2)
		for (int64_t i = 1; i <= most; i++) {
			uint32_t frame = frame_beside(a, way * i);

			if (frame != frame_beside(b, way * i) && frame != UINT32_MAX &&
			    !is_shown(row, a, (uint32_t)((int64_t)a->own + way * i)))
				return way * i;
		}
	return 0;
}

/*
 * Shows a frame that makes it differ from another; false: there are none left.
 */
static bool show_more(const struct view *v, struct table_site *row, const struct table_site *other)
{
	const struct view_site *s = &v->sites[row->site];
	int64_t at = difference(row, s, &v->sites[other->site]);

	if (row->is_full)
		return false;
	if (at == 0 || row->extra_count == TABLE_EXTRA) {
		row->is_full = true; /* template arguments as a last resort */
		return s->own > 0;
	}
	row->extra[row->extra_count++] = (uint32_t)((int64_t)s->own + at);
	return true;
}

void table_distinguish(const struct table_printer *x, struct table_site *rows, size_t count)
{
	struct look *looks = calloc(count + 1, sizeof(*looks));
	bool again = looks != NULL && x->options->frames > 0;

	for (size_t i = 0; looks && i < count; i++)
		looks[i].row = &rows[i];
	while (again) {
		size_t end;

		again = false;
		for (size_t i = 0; i < count; i++)
			looks[i].text = look_of(x, looks[i].row);
		qsort(looks, count, sizeof(*looks), by_look);
		for (size_t i = 0; i < count; i = end) {
			for (end = i + 1; end < count; end++)
				if (by_look(&looks[i], &looks[end]) != 0)
					break;
			for (size_t k = i; end - i > 1 && k < end; k++)
				again |=
				    show_more(x->view, looks[k].row, looks[k > i ? i : i + 1].row);
		}
		for (size_t i = 0; i < count; i++)
			free(looks[i].text);
	}
	free(looks);
}

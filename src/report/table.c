/* table.c - prints a view as a table: one row per site. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/ages.h"
#include "report/columns.h"

enum {
	WHERE_MIN = 100, /* columns; with fewer it goes below the figures */
	WHERE_INDENT = 8,
	FRAME_MIN = 20, /* columns, whatever the width */
	ARROW = 4,      /* " <- " */
	GAP = 2,
	CELLS = 6,
	EXTRA = 4, /* frames more than usual to tell a row from another */
};

struct row {
	struct amounts amounts;
	uint32_t site;
	uint32_t frames;       /* to show: the user's own and its callers */
	uint32_t extra[EXTRA]; /* positions in the stack to show as well */
	uint32_t extra_count;
	bool is_full; /* what it calls with all arguments */
};

/* Cells beside the figures of struct columns, as texts. */
struct cells {
	char text[CELLS][AGES_MAX];
	size_t count;
};

struct printer {
	const struct layout *page;
	const struct view *view;
	const struct table_options *options;
	struct columns columns;
	const char *const *titles;
	int widths[CELLS];
	size_t cell_count;
	bool below; /* where goes below the figures */
};

const char *
table_change(const struct view_site *s, int metric)
{
	uint64_t a = view_blocks(&s->before, metric);
	uint64_t b = view_blocks(&s->figures, metric);
	uint64_t v = view_bytes(&s->before, metric);
	uint64_t w = view_bytes(&s->figures, metric);

	if (a == 0 && b > 0)
		return "new";
	if (a > 0 && b == 0)
		return "gone";
	if (v == w && a == b)
		return "same";
	return w > v || (w == v && b > a) ? "grown" : "shrunk";
}

/* ---- where ---- */

/* The frame as one text, for free(). */
static char *
frame_text(
    const struct layout *p, const struct frame *x, uint32_t repeats, bool full)
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

/* Says that callers follow; when out of memory it does not. */
static void
add_more(char **text)
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

static void
where_release(struct where *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->texts[i]);
	free(w->texts);
}

/* Does the row show this frame of its stack? */
static bool
is_shown(const struct row *row, const struct view_site *s, uint32_t at)
{
	if (row->frames == 0 || at == s->own || at + 1 == s->own ||
	    (at > s->own && at - s->own < row->frames))
		return true;
	for (uint32_t i = 0; i < row->extra_count; i++)
		if (row->extra[i] == at)
			return true;
	return false;
}

/* Adds a frame; `skipped`: some before it are not shown. -ENOMEM. */
static int
where_add(struct where *w, const struct printer *x, const struct row *row,
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

/* Fewer texts when out of memory. */
static void
where_init(struct where *w, const struct printer *x, const struct row *row)
{
	const struct view_site *s = &x->view->sites[row->site];
	bool skips = false;

	*w = (struct where){
	    .texts = calloc((size_t)s->frame_count + 1, sizeof(char *))};
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
 * Prints one more frame of a stack after `used` columns, on a new line where
 * it does not fit; how many columns are used then.
 */
static size_t
print_frame(
    const struct layout *p, const char *text, const char *arrow, size_t used)
{
	size_t columns = layout_columns(text);
	size_t room = p->width > used ? p->width - used : 0;

	if (arrow && p->width > 0 && ARROW + columns > room) {
		(void)fprintf(p->out, "\n%*s%s ", WHERE_INDENT, "", arrow);
		used = WHERE_INDENT + ARROW - 1;
		room =
		    p->width > used + FRAME_MIN ? p->width - used : FRAME_MIN;
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

/* "malloc in f a.c:1 -> x.h:9 <- g b.c:2 <- ...", on several lines if need be. */
static void
print_where(const struct printer *x, const struct row *row, size_t used)
{
	const struct layout *p = x->page;
	struct where w;

	where_init(&w, x, row);
	used += (size_t)fprintf(p->out, "%s%s",
	    words_api(x->view->sites[row->site].api), w.count ? " in " : "");
	for (size_t i = 0; i < w.count; i++)
		used = print_frame(p, w.texts[i],
		    i == 0             ? NULL
		        : i <= w.inner ? "->"
		                       : "<-",
		    used);
	where_release(&w);
}

/* ---- rows that look alike ---- */

/* A row and what it shows, for free(); NULL: out of memory. */
struct look {
	struct row *row;
	char *text;
};

static char *
look_of(const struct printer *x, const struct row *row)
{
	char *text = NULL;
	size_t len;
	struct where w;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	where_init(&w, x, row);
	(void)fputs(words_api(x->view->sites[row->site].api), out);
	for (size_t i = 0; i < w.count; i++)
		(void)fprintf(out, " %s", w.texts[i]);
	where_release(&w);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int
by_look(const void *a, const void *b)
{
	const struct look *x = a, *y = b;

	return strcmp(x->text ? x->text : "", y->text ? y->text : "");
}

/* The frame of a stack so far from the user's own; -: what it calls. */
static uint32_t
frame_beside(const struct view_site *s, int64_t steps)
{
	int64_t at = (int64_t)s->own + steps;

	return at >= 0 && at < (int64_t)s->frame_count ? s->frames[at]
	                                               : UINT32_MAX;
}

/*
 * How far from the user's own, which both show, two stacks differ first, where
 * a does not show it yet; what it calls before who calls it. 0: nowhere.
 */
static int64_t
difference(
    const struct row *row, const struct view_site *a, const struct view_site *b)
{
	int64_t most =
	    a->frame_count > b->frame_count ? a->frame_count : b->frame_count;

	for (int way = -1; way <= 1; way += 2)
		for (int64_t i = 1; i <= most; i++) {
			uint32_t frame = frame_beside(a, way * i);

			if (frame != frame_beside(b, way * i) &&
			    frame != UINT32_MAX &&
			    !is_shown(
			        row, a, (uint32_t)((int64_t)a->own + way * i)))
				return way * i;
		}
	return 0;
}

/* Shows what makes it differ from another; false: there is nothing left. */
static bool
show_more(const struct view *v, struct row *row, const struct row *other)
{
	const struct view_site *s = &v->sites[row->site];
	int64_t at = difference(row, s, &v->sites[other->site]);

	if (row->is_full)
		return false;
	if (at == 0 || row->extra_count == EXTRA) {
		row->is_full = true; /* template arguments, at last */
		return s->own > 0;
	}
	row->extra[row->extra_count++] = (uint32_t)((int64_t)s->own + at);
	return true;
}

/* Whoever looks like another row gets more frames, until none does. */
static void
tell_apart(const struct printer *x, struct row *rows, size_t count)
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
				again |= show_more(x->view, looks[k].row,
				    looks[k > i ? i : i + 1].row);
		}
		for (size_t i = 0; i < count; i++)
			free(looks[i].text);
	}
	free(looks);
}

/* ---- rows ---- */

static void
add_cell(struct cells *c, const char *text)
{
	(void)snprintf(c->text[c->count++], AGES_MAX, "%s", text);
}

/* Of a comparison: what was and what is; else counts, sizes and ages. */
static void
fill_cells(const struct printer *x, const struct view_site *s, struct cells *c)
{
	int metric = x->options->metric;
	char buffer[AGES_MAX];

	c->count = 0;
	if (x->view->is_compared) {
		add_cell(
		    c, words_count(buffer, view_bytes(&s->before, metric)));
		add_cell(
		    c, words_count(buffer, view_bytes(&s->figures, metric)));
		add_cell(c, table_change(s, metric));
		return;
	}
	if (metric != VIEW_ALLOCS)
		add_cell(c, words_count(buffer, s->figures.all.allocations));
	else
		add_cell(c, words_count(buffer, s->figures.all.frees));
	add_cell(c, ages_sizes(buffer, s));
	add_cell(c, ages_living(buffer, s, s->now_ns));
	add_cell(c, ages_dead(buffer, s));
	(void)snprintf(buffer, sizeof(buffer), s->count > 1 ? "%u+%u" : "%u",
	    s->id, s->count - 1);
	add_cell(c, buffer);
}

/* With a gap behind it, if anything follows on the line. */
static size_t
print_cell(const struct printer *x, size_t number, const char *text)
{
	bool is_last = x->below && number + 1 == x->cell_count;

	return (size_t)fprintf(x->page->out, "%*s%*s", x->widths[number], text,
	    is_last ? 0 : GAP, "");
}

static void
print_row(const struct printer *x, const struct row *row)
{
	const struct view_site *s = &x->view->sites[row->site];
	const struct layout *p = x->page;
	struct cells c;
	size_t used;

	fill_cells(x, s, &c);
	used = columns_print(&x->columns, p, &row->amounts);
	for (size_t i = 0; i < c.count; i++)
		used += print_cell(x, i, c.text[i]);
	if (x->below)
		used = (size_t)fprintf(p->out, "\n%*s", WHERE_INDENT, "") - 1;
	print_where(x, row, used);
	(void)putc('\n', p->out);
}

/* Each cell as wide as the widest of those to be shown. */
static void
find_widths(struct printer *x, const struct row *rows, size_t count)
{
	static const char *const plain[] = {
	    "calls", "sizes", "age", "half die by", "site"};
	static const char *const allocs[] = {
	    "frees", "sizes", "age", "half die by", "site"};
	static const char *const compared[] = {"before", "after", "change"};
	struct cells c = {0};

	x->titles = x->view->is_compared        ? compared
	    : x->options->metric == VIEW_ALLOCS ? allocs
	                                        : plain;
	x->cell_count = x->view->is_compared ? 3 : 5;
	for (size_t k = 0; k < x->cell_count; k++)
		x->widths[k] = (int)strlen(x->titles[k]);
	for (size_t i = 0; i < count; i++) {
		fill_cells(x, &x->view->sites[rows[i].site], &c);
		for (size_t k = 0; k < c.count; k++)
			if ((int)strlen(c.text[k]) > x->widths[k])
				x->widths[k] = (int)strlen(c.text[k]);
	}
}

static void
print_head(struct printer *x)
{
	const struct layout *p = x->page;
	size_t used = columns_head(&x->columns, p);

	for (size_t k = 0; k < x->cell_count; k++)
		used += (size_t)x->widths[k] + GAP;
	x->below = p->width > 0 && used + WHERE_MIN > p->width;
	for (size_t k = 0; k < x->cell_count; k++)
		(void)print_cell(x, k, x->titles[k]);
	(void)fputs(x->below ? "\n" : "where\n", p->out);
}

static int
heavier(const void *a, const void *b, void *options)
{
	const struct table_options *o = options;
	const struct row *x = a, *y = b;
	int n = o->grown_first
	    ? amounts_compare_growth(&x->amounts, &y->amounts, o->order)
	    : amounts_compare(&x->amounts, &y->amounts, o->order);

	return n ? n : x->site < y->site ? -1 : x->site > y->site;
}

/* Moves those to be shown to the front and adds up the others. */
static size_t
choose(const struct printer *x, struct row *rows, size_t count, struct row *low,
    struct row *cut)
{
	const struct table_options *o = x->options;
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		if (columns_is_below(
		        &x->columns, &rows[i].amounts, o->threshold)) {
			amounts_add(&low->amounts, &rows[i].amounts);
			low->site++;
		} else if (o->top > 0 && shown >= o->top) {
			amounts_add(&cut->amounts, &rows[i].amounts);
			cut->site++;
		} else {
			rows[shown++] = rows[i];
		}
	}
	return shown;
}

int
table_write(const struct layout *p, const struct view *v,
    const struct table_options *options)
{
	struct printer x = {.page = p, .view = v, .options = options};
	struct row *rows = calloc(v->site_count + 1, sizeof(*rows));
	struct row low = {0}, cut = {0};
	struct table_options order = *options;
	size_t n = v->site_count;
	char why[64];

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		rows[i].site = (uint32_t)i;
		rows[i].frames = options->frames;
		amounts_of(v, &v->sites[i], options->metric, &rows[i].amounts);
	}
	qsort_r(rows, n, sizeof(*rows), heavier, &order);
	columns_init(&x.columns, v, options->metric, options->order);
	n = choose(&x, rows, n, &low, &cut);
	tell_apart(&x, rows, n);
	find_widths(&x, rows, n);
	print_head(&x);
	for (size_t i = 0; i < n && !ferror(p->out); i++)
		print_row(&x, &rows[i]);
	(void)snprintf(why, sizeof(why), " beyond --top %u", options->top);
	columns_rest(&x.columns, p, &cut.amounts, cut.site, 0, why);
	(void)snprintf(why, sizeof(why), "%s below %g%%",
	    low.site > 1 ? ", each" : "", options->threshold);
	columns_rest(&x.columns, p, &low.amounts, low.site, 0, why);
	free(rows);
	return 0;
}

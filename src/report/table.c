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
};

struct row {
	struct amounts amounts;
	uint32_t site;
};

/* Cells beside the figures of struct columns, as texts. */
struct cells {
	char text[CELLS][AGES_MAX];
	size_t count;
};

struct printer {
	const struct page *page;
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
frame_text(const struct page *p, const struct frame *x, uint32_t repeats)
{
	char *text = NULL;
	size_t len;
	struct page plain = {.out = open_memstream(&text, &len),
	    .full_names = p->full_names,
	    .programs = p->programs,
	    .lacks = p->lacks};

	if (!plain.out)
		return NULL;
	page_frame(&plain, x, repeats, 0, PAGE_PLAIN);
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

/* Texts of the first frames; fewer when out of memory. */
static size_t
frame_texts(const struct page *p, const struct view *v,
    const struct view_site *s, unsigned frames, char ***ret)
{
	size_t n = s->frame_count, made = 0;

	if (frames > 0 && n > frames)
		n = frames;
	*ret = calloc(n + 1, sizeof(char *));
	for (; *ret && made < n; made++) {
		(*ret)[made] = frame_text(p, &v->frames[s->frames[made]],
		    s->repeats ? s->repeats[made] : 1);
		if (!(*ret)[made])
			break;
	}
	if (made > 0 && made < s->frame_count)
		add_more(&(*ret)[made - 1]);
	return made;
}

/*
 * Prints one more frame of a stack after `used` columns, on a new line where
 * it does not fit; how many columns are used then.
 */
static size_t
print_frame(const struct page *p, const char *text, bool is_first, size_t used)
{
	size_t columns = page_columns(text);
	size_t room = p->width > used ? p->width - used : 0;

	if (!is_first && p->width > 0 && ARROW + columns > room) {
		(void)fprintf(p->out, "\n%*s<- ", WHERE_INDENT, "");
		used = WHERE_INDENT + ARROW - 1;
		room =
		    p->width > used + FRAME_MIN ? p->width - used : FRAME_MIN;
	} else if (!is_first) {
		(void)fputs(" <- ", p->out);
		used += ARROW;
		room -= p->width > 0 ? ARROW : 0;
	}
	if (p->width > 0 && room < FRAME_MIN)
		room = FRAME_MIN;
	page_fit(p, text, p->width > 0 ? room : 0);
	return used + columns;
}

/* "malloc in f a.c:1 <- g b.c:2 <- ...", on several lines if need be. */
static void
print_where(const struct page *p, const struct view *v,
    const struct view_site *s, unsigned frames, size_t used)
{
	char **texts;
	size_t n = frame_texts(p, v, s, frames, &texts);

	used +=
	    (size_t)fprintf(p->out, "%s%s", words_api(s->api), n ? " in " : "");
	for (size_t i = 0; i < n; i++) {
		used = print_frame(p, texts[i], i == 0, used);
		free(texts[i]);
	}
	free(texts);
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
	const struct page *p = x->page;
	struct cells c;
	size_t used;

	fill_cells(x, s, &c);
	used = columns_print(&x->columns, p, &row->amounts);
	for (size_t i = 0; i < c.count; i++)
		used += print_cell(x, i, c.text[i]);
	if (x->below)
		used = (size_t)fprintf(p->out, "\n%*s", WHERE_INDENT, "") - 1;
	print_where(p, x->view, s, x->options->frames, used);
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
	const struct page *p = x->page;
	size_t used = columns_head(&x->columns, p);

	for (size_t k = 0; k < x->cell_count; k++)
		used += (size_t)x->widths[k] + GAP;
	x->below = p->width > 0 && used + WHERE_MIN > p->width;
	for (size_t k = 0; k < x->cell_count; k++)
		(void)print_cell(x, k, x->titles[k]);
	(void)fputs(x->below ? "\n" : "where\n", p->out);
}

static int
heavier(const void *a, const void *b, void *order)
{
	const struct row *x = a, *y = b;
	int n = amounts_compare(&x->amounts, &y->amounts, *(const int *)order);

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
table_write(const struct page *p, const struct view *v,
    const struct table_options *options)
{
	struct printer x = {.page = p, .view = v, .options = options};
	struct row *rows = calloc(v->site_count + 1, sizeof(*rows));
	struct row low = {0}, cut = {0};
	int order = options->order;
	size_t n = v->site_count;
	char why[64];

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		rows[i].site = (uint32_t)i;
		amounts_of(v, &v->sites[i], options->metric, &rows[i].amounts);
	}
	qsort_r(rows, n, sizeof(*rows), heavier, &order);
	columns_init(&x.columns, v, options->metric, options->order);
	n = choose(&x, rows, n, &low, &cut);
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

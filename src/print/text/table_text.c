/* table_text.c - prints a view as a table: one row per site. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/body.h"

#include "base/std.h"
#include "print/text/table_parts.h"

enum {
	WHERE_MIN = 100, /* columns; with fewer it goes below the figures */
	GAP = 2,
};

/* Cells beside the figures of struct columns, as texts. */
struct cells {
	char text[TABLE_CELLS][AGES_MAX];
	size_t count;
};

const char *table_text_change(const struct view_site *s, int metric)
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

static void add_cell(struct cells *c, const char *text)
{
	(void)snprintf(c->text[c->count++], AGES_MAX, "%s", text);
}

/* The bytes that are compared. */
static uint64_t figure_of(const struct table_printer *x, const struct view_figures *f)
{
	switch (x->options->order) {
	case AMOUNT_HOLDS:
		return f->holds_bytes;
	case AMOUNT_PINS:
		return view_pins(f);
	default:
		return view_bytes(f, x->options->metric);
	}
}

/* In a comparison, the old and the new figure; else counts, sizes and ages. */
static void fill_cells(const struct table_printer *x, const struct view_site *s, struct cells *c)
{
	int metric = x->options->metric;
	char buffer[AGES_MAX];

	c->count = 0;
	if (x->view->is_compared) {
		add_cell(c, words_count(buffer, figure_of(x, &s->before)));
		add_cell(c, words_count(buffer, figure_of(x, &s->figures)));
		add_cell(c, table_text_change(s, metric));
		return;
	}
	if (metric != VIEW_ALLOCS)
		add_cell(c, words_count(buffer, s->figures.all.allocations));
	else
		add_cell(c, words_count(buffer, s->figures.all.frees));
	add_cell(c, ages_sizes(buffer, s));
	add_cell(c, ages_living(buffer, s, s->now_ns));
	add_cell(c, ages_dead(buffer, s));
	(void)snprintf(buffer, sizeof(buffer), s->count > 1 ? "%u+%u" : "%u", s->id, s->count - 1);
	add_cell(c, buffer);
}

/* Prints a cell, and a gap if anything follows on the line. */
static size_t print_cell(const struct table_printer *x, size_t number, const char *text)
{
	bool is_last = x->below && number + 1 == x->cell_count;

	return (size_t)fprintf(
	    x->page->out, "%*s%*s", x->widths[number], text, is_last ? 0 : GAP, "");
}

static void print_row(const struct table_printer *x, const struct table_site *row)
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
		used = (size_t)fprintf(p->out, "\n%*s", TABLE_WHERE_INDENT, "") - 1;
	table_print_where(x, row, used);
	(void)putc('\n', p->out);
}

/* Makes each column as wide as its widest cell. */
static void find_widths(struct table_printer *x, const struct table_site *rows, size_t count)
{
	static const char *const plain[] = {"calls", "sizes", "age", "half die by", "site"};
	static const char *const allocs[] = {"frees", "sizes", "age", "half die by", "site"};
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

static void print_head(struct table_printer *x)
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

static int heavier(const void *a, const void *b, void *options)
{
	const struct table_options *o = options;
	const struct table_site *x = a, *y = b;
	int n = o->grown_first ? amounts_compare_growth(&x->amounts, &y->amounts, o->order)
	                       : amounts_compare(&x->amounts, &y->amounts, o->order);

	return n ? n : x->site < y->site ? -1 : x->site > y->site;
}

/* Moves the rows to be shown to the front, and adds up the others. */
static size_t choose(const struct table_printer *x, struct table_site *rows, size_t count,
    struct table_site *low, struct table_site *cut)
{
	const struct table_options *o = x->options;
	size_t shown = 0;

	for (size_t i = 0; i < count; i++) {
		if (columns_is_below(&x->columns, &rows[i].amounts, o->threshold)) {
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

int table_text_write(
    const struct layout *p, const struct view *v, const struct table_options *options)
{
	struct table_printer x = {.page = p, .view = v, .options = options};
	struct table_site *rows = calloc(v->site_count + 1, sizeof(*rows));
	struct table_site low = {0}, cut = {0};
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
	columns_init(&x.columns, v, options->metric, options->order, options->with_holds);
	n = choose(&x, rows, n, &low, &cut);
	table_distinguish(&x, rows, n);
	find_widths(&x, rows, n);
	print_head(&x);
	for (size_t i = 0; i < n && !ferror(p->out); i++)
		print_row(&x, &rows[i]);
	(void)snprintf(why, sizeof(why), " beyond --top %u", options->top);
	columns_rest(&x.columns, p, &cut.amounts, cut.site, 0, why);
	(void)snprintf(
	    why, sizeof(why), "%s below %g%%", low.site > 1 ? ", each" : "", options->threshold);
	columns_rest(&x.columns, p, &low.amounts, low.site, 0, why);
	free(rows);
	return 0;
}

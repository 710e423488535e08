/* mmleak.c - un-freed allocations by caller, as mmleak's scripts show them. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/callers.h"
#include "print/export/export.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

enum { HTML_ROWS = 500 }; /* of each table, as there */

/* One process; each table sorts the rows by its own key. */
struct layout {
	FILE *out;
	const struct view *view;
	uint32_t process;
	struct callers callers;
	uint64_t sum;
};

static int layout_init(struct layout *p, FILE *out, const struct view *v, uint32_t process,
    const struct export_options *o)
{
	int err;

	*p = (struct layout){.out = out, .view = v, .process = process};
	err = callers_init(&p->callers, v, process, o->depth ? o->depth : 1);
	for (size_t i = 0; i < p->callers.count; i++)
		p->sum += p->callers.rows[i].figures.all.live_bytes;
	return err;
}

static double mean(const struct process_figures *f)
{
	return f->live_blocks ? (double)f->live_bytes / (double)f->live_blocks : 0;
}

/* ---- text ---- */

/*
 * The smallest and the largest block of a site may be among the freed ones. If
 * they are not known, the mean is used for both.
 */
static void text_row(const struct layout *p, const struct callers_row *row)
{
	const struct process_figures *f = &row->figures.all;
	/* not from the double: 2^64 - 1 bytes would be beyond uint64_t */
	const uint64_t whole = f->live_blocks ? f->live_bytes / f->live_blocks : 0;
	bool knows = row->size_max > 0;

	(void)fprintf(p->out, "0x%" PRIx64 " %" PRIu64 " %.1f %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
	    callers_absolute(p->view, row, p->process), f->live_bytes, mean(f), f->live_blocks,
	    knows ? row->size_min : whole, knows ? row->size_max : whole);
	callers_address(p->out, p->view, row);
	(void)putc(' ', p->out);
	callers_location(p->out, p->view, row);
	(void)putc('\n', p->out);
}

static int write_text(FILE *out, const struct view *v, const struct export_options *o)
{
	for (uint32_t i = 0; i < v->session->count; i++) {
		struct layout p;
		int err;

		if (!callers_has(v, i) && v->session->count > 1)
			continue;
		err = layout_init(&p, out, v, i, o);
		if (err < 0)
			return err;
		callers_heading(out, v, i);
		(void)fprintf(out,
		    "Total allocation in bytes: %" PRIu64 "\n"
		    "func sum mean count min max location\n",
		    p.sum);
		for (size_t k = 0; k < p.callers.count && (o->top == 0 || k < o->top); k++)
			text_row(&p, &p.callers.rows[k]);
		callers_release(&p.callers);
	}
	return ferror(out) ? -EIO : 0;
}

/* ---- HTML ---- */

static void html(FILE *out, const char *text)
{
	while (*text) {
		size_t n = 1;

		if (strchr("<>&\"'", *text))
			(void)fprintf(out, "&#%d;", *text);
		else
			n = text_put(out, text);
		text += n;
	}
}

/* The text of print(), escaped for HTML. */
static void html_cell(const struct layout *p, const struct callers_row *row,
    void (*print)(FILE *, const struct view *, const struct callers_row *))
{
	char *text = NULL;
	size_t len = 0;
	FILE *said = open_memstream(&text, &len);

	(void)fputs("<td>", p->out);
	if (said) {
		print(said, p->view, row);
		(void)fclose(said);
		html(p->out, text);
	}
	free(text);
	(void)fputs("</td>", p->out);
}

static int by_count(const void *a, const void *b)
{
	const struct callers_row *x = a, *y = b;
	uint64_t v = x->figures.all.live_blocks, w = y->figures.all.live_blocks;

	return (v < w) - (v > w);
}

BY(by_max, struct callers_row, DOWN(size_max))

static int by_sum(const void *a, const void *b)
{
	const struct callers_row *x = a, *y = b;
	uint64_t v = x->figures.all.live_bytes, w = y->figures.all.live_bytes;

	return (v < w) - (v > w);
}

static void html_table(const struct layout *p, const char *title, unsigned top,
    int (*order)(const void *, const void *))
{
	const struct callers *c = &p->callers;
	size_t n = top ? top : HTML_ROWS;

	qsort(c->rows, c->count, sizeof(*c->rows), order);
	(void)fprintf(p->out,
	    "<h2>%s</h2>\n<table border=\"1\" class=\"dataframe\">\n"
	    "<thead><tr><th>func</th><th>sum</th><th>mean</th><th>count</th>"
	    "<th>min</th><th>max</th><th>address</th><th>location</th></tr>"
	    "</thead>\n<tbody>\n",
	    title);
	for (size_t i = 0; i < c->count && i < n; i++) {
		const struct callers_row *row = &c->rows[i];
		const struct process_figures *f = &row->figures.all;

		(void)fprintf(p->out,
		    "<tr><td>0x%" PRIx64 "</td><td>%" PRIu64 "</td><td>%.1f</td><td>%" PRIu64
		    "</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td>",
		    callers_absolute(p->view, row, p->process), f->live_bytes, mean(f),
		    f->live_blocks, row->size_min, row->size_max);
		html_cell(p, row, callers_address);
		html_cell(p, row, callers_location);
		(void)fputs("</tr>\n", p->out);
	}
	(void)fputs("</tbody>\n</table>\n", p->out);
}

static void html_process(struct layout *p, unsigned top)
{
	const struct process *x = p->view->session->processes[p->process];

	(void)fputs("<h1>", p->out);
	html(p->out, x->header.exe);
	(void)fprintf(p->out,
	    " (pid %u)</h1>\n<p><b>Total allocation in bytes: %" PRIu64 "</b></p>\n", x->header.pid,
	    p->sum);
	html_table(p, "Sum sort", top, by_sum);
	html_table(p, "Count sort", top, by_count);
	html_table(p, "Max alloc sort", top, by_max);
}

static int write_html(FILE *out, const struct view *v, const struct export_options *o)
{
	(void)fputs("<!DOCTYPE html>\n<html lang=\"en\"><head>"
	            "<meta charset=\"utf-8\"><title>mmleak</title>\n"
	            "<style>body{font-family:sans-serif}"
	            "table{border-collapse:collapse}td,th{padding:2px 8px}"
	            "td{text-align:right;font-variant-numeric:tabular-nums}"
	            "td:nth-child(n+7){text-align:left}</style></head><body>\n",
	    out);
	for (uint32_t i = 0; i < v->session->count; i++) {
		struct layout p;
		int err;

		if (!callers_has(v, i) && v->session->count > 1)
			continue;
		err = layout_init(&p, out, v, i, o);
		if (err < 0)
			return err;
		html_process(&p, o->top);
		callers_release(&p.callers);
	}
	(void)fputs("</body></html>\n", out);
	return ferror(out) ? -EIO : 0;
}

const struct export_format export_mmleak = {
    .name = "mmleak",
    .extension = ".txt",
    .what = "mmleak's un-freed allocations by caller: sum, mean, count, "
            "min, max",
    .flags = EXPORT_TOP,
    .write = write_text,
};

const struct export_format export_mmleak_html = {
    .name = "mmleak-html",
    .extension = ".html",
    .what = "the same as tables for a browser, by sum, count and max",
    .flags = EXPORT_TOP,
    .write = write_html,
};

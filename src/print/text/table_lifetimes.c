/* table_lifetimes.c - prints how long the blocks of each site live. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/table_parts.h"

#include "base/std.h"
#include "print/text/report_text.h"
#include "format/seg_log.h"
#include "kit/data/capped.h"
#include "kit/data/sorted.h"

enum {
	FRAMES = 3,  /* of a stack in a row, unless the user says */
	SPARKS = 12, /* classes of the histogram in a row */
	CELL = WORDS_MAX + 2,
	QUARTERS = 3,
	BAR = 40, /* columns of the longest bar */
	BETWEEN = QUARTERS * WORDS_MAX,
};

static const char between_head[] = "allocations apart";

static const unsigned percents[QUARTERS] = {25, 50, 75};

/* "<10 ms", "340 ms", "1.2 s" */
static const char *time_text(char buffer[CELL], uint64_t ticks)
{
	if (ticks == 0)
		return "<10 ms";
	if (ticks > UINT64_MAX / LOG_TICK_NS)
		ticks = UINT64_MAX / LOG_TICK_NS;
	return words_time(buffer, ticks * LOG_TICK_NS);
}

/* One character for each class of the histogram, the last for all above. */
static void print_spark(const struct layout *p, const struct lifetimes_counts *c)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	uint64_t classes[LIFETIMES_CLASSES], most = 0;

	lifetimes_classes(c, classes);
	for (int i = SPARKS; i < LIFETIMES_CLASSES; i++)
		classes[SPARKS - 1] += classes[i];
	for (int i = 0; i < SPARKS; i++)
		most = classes[i] > most ? classes[i] : most;
	for (int i = 0; i < SPARKS; i++) {
		double part = most ? (double)classes[i] / (double)most : 0;

		if (p->utf8)
			(void)fputs(blocks[classes[i] ? 1 + (int)(part * 7) : 0], p->out);
		else if (classes[i])
			(void)putc('0' + (int)(part * 9), p->out);
		else
			(void)putc('.', p->out);
	}
}

/* ---- rows ---- */

struct row {
	const struct lifetimes_site *life;
	uint32_t site; /* of the view */
};

BY(more_frees, struct row, DOWN(life->freed) ?: UP(site))

/* The quartiles of allocations in between. Returns its length. */
static int between_text(char buffer[BETWEEN], const struct lifetimes_site *x)
{
	int n = 0;

	if (x->between.sum == 0)
		return snprintf(buffer, BETWEEN, "-");
	for (int i = 0; i < QUARTERS; i++) {
		n += snprintf(buffer + n, BETWEEN - (size_t)n, "%s%s", i ? ", " : "",
		    WORDS_COUNT(lifetimes_percentile(&x->between, percents[i])));
	}
	return n;
}

/* Columns of the cells; 0: there is no room for it on the terminal. */
struct widths {
	int freed, live, time, between, sparks, site;
};

/* `between`: columns that its cells need. */
static struct widths find_widths(const struct layout *p, int between)
{
	static const struct widths all = {12, 10, 9, 0, SPARKS, 8}, tight = {8, 7, 6, 0, SPARKS, 5};
	struct widths w = p->width > 0 ? tight : all;
	int used = w.freed + w.live + QUARTERS * (w.time + 1) + w.site + 4;

	w.between = between;
	if (p->width == 0)
		return w;
	if ((unsigned)(used + between + SPARKS + 4) > p->width)
		w.sparks = 0;
	if ((unsigned)(used + between + 2) > p->width)
		w.between = 0;
	return w;
}

static void print_cells(const struct layout *p, const struct widths *w, const char *freed,
    const char *live, const char *const times[QUARTERS], const char *between)
{
	(void)fprintf(p->out, "%*s %*s  %*s %*s %*s  ", w->freed, freed, w->live, live, w->time,
	    times[0], w->time, times[1], w->time, times[2]);
	if (w->between)
		(void)fprintf(p->out, "%-*s  ", w->between, between);
}

static void print_head(const struct layout *p, const struct widths *w)
{
	static const char *const times[] = {"1/4 by", "1/2 by", "3/4 by"};

	print_cells(p, w, "freed", "live", times, between_head);
	if (w->sparks)
		(void)fprintf(p->out, "%-*s  ", SPARKS, "10 ms, x2");
	(void)fprintf(p->out, "%*s%s\n", w->site, "site", p->width > 0 ? "" : "  where");
}

static void print_row(const struct layout *p, const struct view *v, const struct row *r,
    unsigned frames, const struct widths *w)
{
	const struct view_site *s = &v->sites[r->site];
	const struct table_printer printer = {.page = p, .view = v};
	const struct table_site where = {.site = r->site, .frames = frames};
	char a[WORDS_MAX], b[WORDS_MAX], times[QUARTERS][CELL];
	char between[BETWEEN];
	const char *texts[QUARTERS];

	for (int i = 0; i < QUARTERS; i++)
		texts[i] = time_text(times[i], lifetimes_percentile(&r->life->ticks, percents[i]));
	(void)between_text(between, r->life);
	print_cells(p, w, words_count(a, r->life->freed),
	    words_count(b, s->figures.all.live_blocks), texts, between);
	if (w->sparks) {
		print_spark(p, &r->life->ticks);
		(void)fputs("  ", p->out);
	}
	(void)fprintf(p->out, "%*u%s", w->site, s->id, p->width > 0 ? "\n        " : "  ");
	table_print_where(&printer, &where, TABLE_WHERE_INDENT);
	(void)putc('\n', p->out);
}

/* ---- one site ---- */

static void print_bars(
    const struct layout *p, const char *title, const struct lifetimes_counts *c, bool is_time)
{
	uint64_t classes[LIFETIMES_CLASSES], most = 0;
	int last = 0;

	lifetimes_classes(c, classes);
	for (int i = 0; i < LIFETIMES_CLASSES; i++) {
		most = classes[i] > most ? classes[i] : most;
		last = classes[i] ? i : last;
	}
	(void)fprintf(p->out, "\n%s:\n", title);
	for (int i = 0; most > 0 && i <= last; i++) {
		uint64_t from = i ? UINT64_C(1) << (i - 1) : 0;
		char a[CELL];
		int bar = (int)((double)classes[i] / (double)most * BAR);

		(void)fprintf(p->out, "%12s %13s  ",
		    is_time ? time_text(a, from) : words_count(a, from), WORDS_COUNT(classes[i]));
		for (int k = 0; k < bar; k++)
			(void)putc('#', p->out);
		(void)putc('\n', p->out);
	}
}

static void print_site(const struct layout *p, const struct lifetimes_site *x)
{
	struct layout_text t;

	print_bars(p, "Freed blocks by their age, from", &x->ticks, true);
	print_bars(p, "By allocations of the same thread in between, from", &x->between, false);
	layout_begin(p, &t);
	(void)fprintf(t.file,
	    "\n%s freed by another thread than the one that allocated them; "
	    "%s of blocks.\n",
	    WORDS_COUNTED(capped_difference(x->freed, x->between.sum), "block"),
	    WORDS_COUNTED(x->resized, "realloc"));
	layout_end(p, &t);
}

/* ---- processes ---- */

static uint64_t frees_of(const struct session *s, size_t process, const struct lifetimes *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->processes[process]->site_count; i++)
		sum = capped_sum(sum, lifetimes_site(l, process, i)->freed);
	return sum;
}

static size_t choose(
    const struct view *v, size_t process, const struct lifetimes *l, struct row *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < v->site_count; i++) {
		const struct lifetimes_site *x = lifetimes_site(l, process, v->sites[i].site);

		if (x->freed > 0)
			rows[count++] = (struct row){x, (uint32_t)i};
	}
	qsort(rows, count, sizeof(*rows), more_frees);
	return count;
}

static void print_rows(const struct layout *p, const struct view *v, const struct row *rows,
    size_t count, const struct body_options *o)
{
	uint64_t all = 0, rest = 0;
	size_t shown = 0;
	char text[BETWEEN];
	char more[2 * WORDS_COUNTED_MAX + 80];
	int wide = (int)sizeof(between_head) - 1;
	struct widths w;

	for (size_t i = 0; i < count; i++)
		all = capped_sum(all, rows[i].life->freed);
	for (; shown < count && (o->top == 0 || shown < o->top) &&
	     100.0 * (double)rows[shown].life->freed >= o->threshold * (double)all;
	     shown++) {
		int n = between_text(text, rows[shown].life);

		wide = n > wide ? n : wide;
	}
	w = find_widths(p, wide);
	if (count > 0)
		print_head(p, &w);
	for (size_t i = 0; i < shown && !ferror(p->out); i++)
		print_row(p, v, &rows[i], o->frames ? o->frames : FRAMES, &w);
	for (size_t i = shown; i < count; i++)
		rest = capped_sum(rest, rows[i].life->freed);
	if (shown < count) {
		(void)snprintf(more, sizeof(more),
		    "%s freed in %s below %g%% or beyond --top %u.\n", WORDS_COUNTED(rest, "block"),
		    WORDS_COUNTED(count - shown, "more site"), o->threshold, o->top);
		layout_paragraph(p, more, 0);
	}
	if (count == 0)
		(void)fputs("No block was freed.\n", p->out);
}

static int print_process(const struct layout *p, const struct session *s, size_t number,
    struct names *names, const struct body_options *options, const struct lifetimes *l)
{
	const struct process *process = s->processes[number];
	struct view_options o = options->view;
	struct row *rows;
	struct view *v;
	size_t count;
	int err;

	o.only = process;
	o.metric = VIEW_ALLOCS;
	o.group = o.merge = o.fold = o.depth_from_own = o.by_api = false;
	o.depth = 0;
	summary_write(p, process);
	(void)fflush(p->out);
	err = view_new(s, names, &o, &v);
	if (err < 0)
		return err;
	rows = calloc(v->site_count + 1, sizeof(*rows));
	if (!rows) {
		view_free(v);
		return -ENOMEM;
	}
	count = choose(v, number, l, rows);
	(void)putc('\n', p->out);
	print_rows(p, v, rows, count, options);
	if (o.id != VIEW_ANY && count > 0)
		print_site(p, lifetimes_site(l, number, v->sites[0].site));
	free(rows);
	view_free(v);
	return 0;
}

struct weighed {
	size_t number;
	uint64_t frees;
};

BY(heavier, struct weighed, DOWN(frees) ?: UP(number))

/* Has the process a site of this id? */
static bool has_site(const struct process *p, uint32_t id)
{
	for (size_t i = 0; i < p->site_count; i++)
		if (p->sites[i].id == id)
			return true;
	return id == VIEW_ANY;
}

int table_lifetimes_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct lifetimes *l)
{
	struct weighed *list = calloc(s->count + 1, sizeof(*list));
	size_t count = 0, shown = 0;
	bool has_pid = false;
	int err = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++) {
		const struct process *x = s->processes[i];

		if (options->view.pid != VIEW_ANY && x->header.pid != options->view.pid)
			continue;
		has_pid = true;
		if (has_site(x, options->view.id))
			list[count++] = (struct weighed){i, frees_of(s, i, l)};
	}
	qsort(list, count, sizeof(*list), heavier);
	for (; shown < count && err == 0 && !ferror(p->out); shown++) {
		if (shown > 0 &&
		    (list[shown].frees == 0 || (options->top > 0 && shown >= options->top)))
			break;
		(void)fputs(shown ? "\n" : "", p->out);
		err = print_process(p, s, list[shown].number, names, options, l);
	}
	if (err == 0 && shown < count)
		(void)fprintf(
		    p->out, "\n%s not shown.\n", WORDS_COUNTED(count - shown, "more process"));
	free(list);
	if (err < 0)
		return err;
	if (!has_pid)
		return -ESRCH;
	if (count == 0)
		return -ENOENT;
	return ferror(p->out) ? -EIO : 0;
}

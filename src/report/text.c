/* text.c - a session in plain text: a paragraph, then a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/labels.h"
#include "report/spark.h"
#include "report/summary.h"
#include "report/tree.h"
#include "report/words.h"

struct fork;

/* What a report of one process needs at hand. */
struct page {
	FILE *out;
	const struct process *process;
	struct labels *labels;
	const struct text_options *options;
	uint64_t whole;     /* of the metric */
	struct fork *forks; /* as many as a tree is deep */
};

static uint64_t
weight_of(const struct process_figures *f, int metric)
{
	switch (metric) {
	case TEXT_PEAK:
		return f->peak_bytes;
	case TEXT_ALLOCS:
		return f->allocated_bytes;
	default:
		return f->live_bytes;
	}
}

static uint64_t
blocks_of(const struct process_figures *f, int metric)
{
	switch (metric) {
	case TEXT_PEAK:
		return f->peak_blocks;
	case TEXT_ALLOCS:
		return f->allocations;
	default:
		return f->live_blocks;
	}
}

static double
percent(const struct page *page, uint64_t weight)
{
	if (page->whole == 0)
		return 0;
	return 100.0 * (double)weight / (double)page->whole;
}

static const char *
plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static const char *
strong(const struct page *page, bool on)
{
	if (!page->options->colour)
		return "";
	return on ? "\033[1m" : "\033[0m";
}

/* ---- the tree ---- */

static void
print_figures(const struct page *page, const struct tree_node *n)
{
	char a[WORDS_MAX], b[WORDS_MAX];

	(void)fprintf(page->out, "%6.1f%% %15s %11s  ",
	    percent(page, n->weight), words_count(a, n->weight),
	    words_count(b, n->blocks));
}

static void
print_label(const struct page *page, const struct tree_node *n, unsigned level,
    bool with_figures)
{
	if (with_figures)
		print_figures(page, n);
	else
		(void)fprintf(page->out, "%37s", "");
	for (unsigned i = 0; i < level; i++)
		(void)fputs(i + 1 == level ? "<- " : "  ", page->out);
	(void)fputs(level ? "" : strong(page, true), page->out);
	words_print(page->out, labels_text(page->labels, n->label));
	(void)fputs(level ? "" : strong(page, false), page->out);
	(void)putc('\n', page->out);
}

/* A fork in the tree whose branches are being printed. */
struct fork {
	uint32_t child;         /* the next branch, 0: all are done */
	uint64_t weight, sites; /* of those below the threshold */
};

/*
 * Single callers of a node, down to where its callers fork. They stay at one
 * indentation and have no figures: those of the node are theirs.
 */
static uint32_t
print_chain(const struct page *page, const struct tree *t,
    const struct tree_node *n, unsigned level)
{
	for (;;) {
		const struct tree_node *caller = tree_node(t, n->first_child);

		if (n->first_child == 0 || caller->next != 0 ||
		    caller->sites != n->sites)
			return n->first_child;
		print_label(page, caller, level, false);
		n = caller;
	}
}

static void
print_below(const struct page *page, const struct fork *f, unsigned level)
{
	char a[WORDS_MAX], b[WORDS_MAX];

	if (f->sites > 0)
		(void)fprintf(page->out,
		    "%6.1f%% %15s %11s  %*s(%s site%s below the threshold)\n",
		    percent(page, f->weight), words_count(a, f->weight), "",
		    (int)level * 2, "", words_count(b, f->sites),
		    plural(f->sites));
}

/* Callers of a node, one per line; a loop, because stacks are deep. */
static void
print_callers(
    const struct page *page, const struct tree *t, const struct tree_node *top)
{
	struct fork *forks = page->forks;
	unsigned depth = 1;

	forks[0] = (struct fork){.child = print_chain(page, t, top, 1)};
	while (depth > 0) {
		struct fork *f = &forks[depth - 1];
		const struct tree_node *n = tree_node(t, f->child);

		if (f->child == 0) {
			print_below(page, f, depth);
			depth--;
			continue;
		}
		f->child = n->next;
		if (percent(page, n->weight) < page->options->threshold) {
			f->weight += n->weight;
			f->sites += n->sites;
			continue;
		}
		print_label(page, n, depth, true);
		forks[depth] =
		    (struct fork){.child = print_chain(page, t, n, depth + 1)};
		depth++;
	}
}

static void
print_rest(const struct page *page, uint64_t entries, const char *what,
    uint64_t weight, const char *why)
{
	char a[WORDS_MAX], b[WORDS_MAX];

	if (entries > 0)
		(void)fprintf(page->out, "%s more %s%s %s: %s (%.1f%%).\n",
		    words_count(a, entries), what, plural(entries), why,
		    words_bytes(b, weight), percent(page, weight));
}

static int
build_tree(struct page *page, struct tree *t)
{
	const struct process *p = page->process;
	const struct text_options *o = page->options;

	for (size_t i = 0; i < p->site_count; i++) {
		const struct process_site *s = &p->sites[i];
		const uint32_t *stack;
		uint8_t api;
		size_t n;
		int err;

		if (s->kind == SEG_SITE_USER ||
		    blocks_of(&s->figures, o->metric) == 0)
			continue;
		err = labels_stack(page->labels, s, o->depth, &stack, &n, &api);
		if (err < 0)
			return err;
		err = tree_add(t, stack, n, weight_of(&s->figures, o->metric),
		    blocks_of(&s->figures, o->metric));
		if (err < 0)
			return err;
	}
	return tree_sort(t);
}

static int
print_tree(struct page *page)
{
	uint64_t low_sites = 0, low_weight = 0, cut_sites = 0, cut_weight = 0;
	const struct text_options *o = page->options;
	const struct tree_node *n;
	struct tree *t;
	unsigned shown = 0;
	int err;

	err = tree_new(&t);
	if (err < 0)
		return err;
	err = -ENOMEM;
	/* frames, a sentence for missing ones, the function itself */
	page->forks = calloc(STACKS_MAX_FRAMES + 3, sizeof(*page->forks));
	if (!page->forks)
		goto out;
	err = build_tree(page, t);
	if (err < 0)
		goto out;
	(void)fprintf(page->out, "\n%7s %15s %11s  %s\n", "share", "bytes",
	    o->metric == TEXT_ALLOCS ? "allocations" : "blocks",
	    "function that allocates, <- its callers");
	for (uint32_t c = tree_node(t, 0)->first_child; c; c = n->next) {
		n = tree_node(t, c);
		if (percent(page, n->weight) < o->threshold) {
			low_sites += n->sites;
			low_weight += n->weight;
		} else if (o->top > 0 && shown >= o->top) {
			cut_sites += n->sites;
			cut_weight += n->weight;
		} else {
			print_label(page, n, 0, true);
			print_callers(page, t, n);
			shown++;
		}
	}
	print_rest(page, cut_sites, "site", cut_weight, "beyond --top");
	print_rest(page, low_sites, "site", low_weight, "below the threshold");
out:
	free(page->forks);
	tree_free(t);
	return err;
}

/* ---- the table ---- */

struct row {
	uint64_t weight, blocks;
	size_t site;
};

static int
heavier(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static int
print_row(struct page *page, const struct row *row)
{
	const struct process_site *s = &page->process->sites[row->site];
	char a[WORDS_MAX], b[WORDS_MAX], c[WORDS_MAX], d[WORDS_MAX];
	const uint32_t *stack;
	uint8_t api;
	size_t n;
	int err;

	err = labels_stack(page->labels, s, 0, &stack, &n, &api);
	if (err < 0)
		return err;
	(void)fprintf(page->out, "%15s %11s %6.1f%% %11s %11s  %-8u %s in ",
	    words_count(a, row->weight), words_count(b, row->blocks),
	    percent(page, row->weight), words_count(c, s->figures.allocations),
	    words_count(d, s->figures.frees), s->id, words_api(api));
	labels_print(
	    page->out, page->labels, stack, n, page->options->depth, " <- ");
	(void)putc('\n', page->out);
	return 0;
}

static int
print_table(struct page *page)
{
	uint64_t low = 0, low_weight = 0, cut = 0, cut_weight = 0;
	const struct process *p = page->process;
	const struct text_options *o = page->options;
	struct row *rows;
	size_t n = 0;
	unsigned shown = 0;
	int err = 0;

	rows = calloc(p->site_count + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < p->site_count; i++) {
		const struct process_figures *f = &p->sites[i].figures;

		if (p->sites[i].kind == SEG_SITE_USER ||
		    blocks_of(f, o->metric) == 0)
			continue;
		rows[n++] = (struct row){.weight = weight_of(f, o->metric),
		    .blocks = blocks_of(f, o->metric),
		    .site = i};
	}
	qsort(rows, n, sizeof(*rows), heavier);
	(void)fprintf(page->out, "\n%15s %11s %7s %11s %11s  %-8s %s\n",
	    "bytes", o->metric == TEXT_ALLOCS ? "allocations" : "blocks",
	    "share", "allocations", "frees", "site", "where");
	for (size_t i = 0; i < n && err == 0; i++) {
		if (percent(page, rows[i].weight) < o->threshold) {
			low++;
			low_weight += rows[i].weight;
		} else if (o->top > 0 && shown >= o->top) {
			cut++;
			cut_weight += rows[i].weight;
		} else {
			err = print_row(page, &rows[i]);
			shown++;
		}
	}
	print_rest(page, cut, "site", cut_weight, "beyond --top");
	print_rest(page, low, "site", low_weight, "below the threshold");
	free(rows);
	return err;
}

static int
print_process(FILE *out, const struct process *p, struct names *names,
    const struct text_options *o)
{
	static const char *const nothing[] = {
	    [TEXT_LIVE] = "\nNo block is live.\n",
	    [TEXT_PEAK] = "\nNo block was live at the peak.\n",
	    [TEXT_ALLOCS] = "\nNothing was allocated.\n"};
	struct page page = {.out = out, .process = p, .options = o};
	int err;

	summary_write(out, p, o->colour);
	spark_write(out, p, o->utf8);
	if (blocks_of(&p->totals, o->metric) == 0) {
		(void)fputs(nothing[o->metric], out);
		return 0;
	}
	page.whole = weight_of(&p->totals, o->metric);
	err = labels_new(p, names, &page.labels);
	if (err < 0)
		return err;
	err = o->shape == TEXT_TABLE ? print_table(&page) : print_tree(&page);
	labels_free(page.labels);
	return err;
}

/* ---- several processes ---- */

static int
heavier_process(const void *a, const void *b, void *metric)
{
	const struct process *x = *(struct process *const *)a;
	const struct process *y = *(struct process *const *)b;
	uint64_t v = weight_of(&x->totals, *(const int *)metric);
	uint64_t w = weight_of(&y->totals, *(const int *)metric);

	if (v != w)
		return v > w ? -1 : 1;
	return (x->header.pid > y->header.pid) -
	    (x->header.pid < y->header.pid);
}

/* One line each, in the order of their start. */
static void
print_overview(FILE *out, const struct session *s)
{
	char live[WORDS_MAX], peak[WORDS_MAX], all[WORDS_MAX];

	(void)fprintf(out, "%zu processes:\n%9s %9s %-8s %15s %15s %13s  %s\n",
	    s->count, "pid", "parent", "end", "live bytes", "peak bytes",
	    "allocations", "program");
	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		(void)fprintf(out, "%9u %9u %-8s %15s %15s %13s  ",
		    p->header.pid, p->header.ppid, words_end(p->end),
		    words_count(live, p->totals.live_bytes),
		    words_count(peak, p->totals.peak_bytes),
		    words_count(all, p->totals.allocations));
		words_print(out, p->header.exe);
		(void)putc('\n', out);
	}
	(void)putc('\n', out);
}

/* The heavy ones in full, heaviest first; the others are in the overview. */
static int
print_several(FILE *out, const struct session *s, struct names *names,
    const struct text_options *o)
{
	struct process **order = calloc(s->count, sizeof(struct process *));
	uint64_t whole = 0;
	int metric = o->metric, err = 0;
	size_t shown = 0;

	if (!order)
		return -ENOMEM;
	print_overview(out, s);
	for (size_t i = 0; i < s->count; i++) {
		order[i] = s->processes[i];
		if (__builtin_add_overflow(
		        whole, weight_of(&order[i]->totals, metric), &whole))
			whole = UINT64_MAX;
	}
	qsort_r(order, s->count, sizeof(struct process *), heavier_process,
	    &metric);
	for (; shown < s->count && err == 0 && !ferror(out); shown++) {
		uint64_t w = weight_of(&order[shown]->totals, metric);

		if (shown > 0 &&
		    ((o->top > 0 && shown >= o->top) ||
		        100.0 * (double)w < o->threshold * (double)whole))
			break;
		(void)fputs(shown ? "\n" : "", out);
		err = print_process(out, order[shown], names, o);
	}
	if (shown < s->count && err == 0)
		(void)fprintf(out,
		    "\n%zu more process%s below the threshold or beyond --top.\n",
		    s->count - shown, s->count - shown == 1 ? "" : "es");
	free(order);
	return err;
}

int
text_write(FILE *out, const struct session *s, struct names *names,
    const struct text_options *options)
{
	char *const *notes;
	size_t n;
	int err;

	err = s->count == 1
	    ? print_process(out, s->processes[0], names, options)
	    : print_several(out, s, names, options);
	if (err < 0)
		return err;
	n = names_notes(names, &notes);
	for (size_t i = 0; i < n; i++) {
		(void)fputs(i ? "" : "\n", out);
		(void)fputs("Note: ", out);
		words_print(out, notes[i]);
		(void)fputs(".\n", out);
	}
	return ferror(out) ? -EIO : 0;
}

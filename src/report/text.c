/* text.c - a session in plain text: a paragraph, then a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text.h"

#include "reader/losses.h"
#include "report/labels.h"
#include "report/tree.h"
#include "report/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a report of one process needs at hand. */
struct page {
	FILE *out;
	const struct process *process;
	struct labels *labels;
	const struct text_options *options;
	uint64_t whole; /* of the metric */
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

/* ---- the paragraph ---- */

/* Ticks are tenths of a second: less than that is not known. */
static const char *
span(char buffer[WORDS_MAX], uint64_t ns)
{
	char time[WORDS_MAX];

	if (ns < SEG_TICK_NS)
		return "for less than 0.1 s";
	(void)snprintf(buffer, WORDS_MAX, "for %s", words_time(time, ns));
	return buffer;
}

/* "12 events not recorded", "1 event not recorded" */
static void
print_count(const struct page *page, uint64_t n, const char *words)
{
	size_t first = strcspn(words, " ");
	char buffer[WORDS_MAX];

	if (n == 1 && words[first - 1] == 's')
		(void)fprintf(
		    page->out, "1 %.*s%s", (int)first - 1, words, words + first);
	else
		(void)fprintf(
		    page->out, "%s %s", words_count(buffer, n), words);
}

static void
print_ending(const struct page *page)
{
	const struct process *p = page->process;
	char buffer[WORDS_MAX];
	uint64_t ns = p->duration_ns;

	if (p->is_snapshot)
		(void)fprintf(page->out, "had run %s at the snapshot. ",
		    span(buffer, ns));
	else if (p->end == PROCESS_RUNNING)
		(void)fprintf(page->out, "has been running %s. ",
		    span(buffer, ns));
	else if (p->end == PROCESS_EXEC)
		(void)fprintf(page->out,
		    "ran %s and went on as another program (exec). ",
		    span(buffer, ns));
	else if (p->signal > 0)
		(void)fprintf(page->out,
		    "ran %s and was killed by signal %d (%s). ",
		    span(buffer, ns), p->signal, strsignal(p->signal));
	else if (p->exit_status >= 0)
		(void)fprintf(page->out,
		    "ran %s and exited with status %d. ",
		    span(buffer, ns), p->exit_status);
	else if (p->end == PROCESS_EXITED)
		(void)fprintf(page->out, "ran %s and exited. ",
		    span(buffer, ns));
	else if (p->end == PROCESS_KILLED)
		(void)fprintf(page->out,
		    "ran %s and ended without a farewell (killed, or _exit). ",
		    span(buffer, ns));
	else
		(void)fprintf(page->out, "ran %s, its end is not known. ",
		    span(buffer, ns));
}

static void
print_losses(const struct page *page)
{
	const uint64_t *counts = page->process->header.counts;
	const struct losses_name *names;
	const char *before = "Lost: ";
	size_t n;

	names = losses_names(&n);
	for (size_t i = 0; i < n; i++) {
		if (counts[names[i].count] == 0 ||
		    names[i].class != LOSSES_LOSS)
			continue;
		(void)fputs(before, page->out);
		print_count(page, counts[names[i].count], names[i].words);
		before = "; ";
	}
	(void)fputs(
	    *before == 'L' ? "Nothing was lost.\n" : ".\n", page->out);
}

static void
print_oddities(const struct page *page)
{
	const uint64_t *counts = page->process->header.counts;
	const struct losses_name *names;
	const char *before = "Also seen: ";
	size_t n;

	names = losses_names(&n);
	for (size_t i = 0; i < n; i++) {
		if (counts[names[i].count] == 0 ||
		    names[i].class != LOSSES_TOTAL ||
		    names[i].count == SEG_INHERITED_BYTES ||
		    names[i].count == SEG_MISSED_BYTES)
			continue;
		(void)fputs(before, page->out);
		print_count(page, counts[names[i].count], names[i].words);
		before = "; ";
	}
	if (*before != 'A')
		(void)fputs(".\n", page->out);
}

static void
print_paragraph(const struct page *page)
{
	const struct process *p = page->process;
	const struct process_figures *t = &p->totals;
	const char *slash = strrchr(p->header.exe, '/');
	const char *name = slash ? slash + 1 : p->header.exe;
	char a[WORDS_MAX], b[WORDS_MAX];

	(void)fputs(strong(page, true), page->out);
	words_print(page->out, *name ? name : "(no name)");
	(void)fprintf(page->out, "%s (pid %u) ", strong(page, false),
	    p->header.pid);
	print_ending(page);
	if (p->header.state == SEG_INERT)
		(void)fprintf(page->out,
		    "It was not traced: %s. What is shown ends there. ",
		    losses_inert(p->header.inert_reason));
	(void)fprintf(page->out, "It made %s allocation%s of %s in all",
	    words_count(a, t->allocations), plural(t->allocations),
	    words_bytes(b, t->allocated_bytes));
	if (p->header.sample_bytes > 0)
		(void)fputs(" (an estimate from samples)", page->out);
	(void)fprintf(page->out, "; %s in %s block%s ",
	    words_bytes(b, t->live_bytes), words_count(a, t->live_blocks),
	    plural(t->live_blocks));
	(void)fputs(p->is_snapshot            ? "were live then"
		: p->end == PROCESS_RUNNING ? "are live now"
					    : "were live at its end",
	    page->out);
	(void)fprintf(page->out, "; the peak was %s%s in %s block%s. ",
	    p->peak_exact ? "" : "about ", words_bytes(b, t->peak_bytes),
	    words_count(a, t->peak_blocks), plural(t->peak_blocks));
	print_losses(page);
	print_oddities(page);
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
print_label(const struct page *page, const struct tree_node *n,
    unsigned level, bool with_figures)
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

/*
 * Callers of a node, one per line. A line of single callers stays at its
 * indentation and says its figures once, at the top; only forks go deeper.
 */
static void
print_callers(const struct page *page, const struct tree *t,
    const struct tree_node *parent, unsigned level)
{
	char a[WORDS_MAX], b[WORDS_MAX];
	uint64_t weight = 0, sites = 0;
	bool alone;

	/* single callers by a loop: stacks are deep */
	for (;;) {
		const struct tree_node *n;

		if (parent->first_child == 0)
			return;
		n = tree_node(t, parent->first_child);
		alone = n->next == 0 && n->sites == parent->sites;
		if (!alone)
			break;
		print_label(page, n, level, false);
		parent = n;
	}
	for (uint32_t c = parent->first_child; c; c = tree_node(t, c)->next) {
		const struct tree_node *n = tree_node(t, c);

		if (percent(page, n->weight) < page->options->threshold) {
			weight += n->weight;
			sites += n->sites;
			continue;
		}
		print_label(page, n, level, true);
		print_callers(page, t, n, level + 1);
	}
	if (sites > 0)
		(void)fprintf(page->out,
		    "%6.1f%% %15s %11s  %*s(%s site%s below the threshold)\n",
		    percent(page, weight), words_count(a, weight), "",
		    (int)level * 2, "", words_count(b, sites), plural(sites));
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
		err = labels_stack(page->labels, s, &stack, &n, &api);
		if (err < 0)
			return err;
		if (o->depth > 0 && n > o->depth)
			n = o->depth;
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
			print_callers(page, t, n, 1);
			shown++;
		}
	}
	print_rest(page, cut_sites, "site", cut_weight, "beyond --top");
	print_rest(
	    page, low_sites, "site", low_weight, "below the threshold");
out:
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
	unsigned depth = page->options->depth;
	char a[WORDS_MAX], b[WORDS_MAX], c[WORDS_MAX], d[WORDS_MAX];
	const uint32_t *stack;
	uint8_t api;
	size_t n;
	int err;

	err = labels_stack(page->labels, s, &stack, &n, &api);
	if (err < 0)
		return err;
	(void)fprintf(page->out, "%15s %11s %6.1f%% %11s %11s  %-8u %s in ",
	    words_count(a, row->weight), words_count(b, row->blocks),
	    percent(page, row->weight),
	    words_count(c, s->figures.allocations),
	    words_count(d, s->figures.frees), s->id, words_api(api));
	for (size_t i = 0; i < n && (depth == 0 || i < depth); i++) {
		if (i > 0)
			(void)fputs(" <- ", page->out);
		words_print(page->out, labels_text(page->labels, stack[i]));
	}
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

	print_paragraph(&page);
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

int
text_write(FILE *out, const struct session *s, struct names *names,
    const struct text_options *options)
{
	char *const *notes;
	size_t n;
	int err;

	for (size_t i = 0; i < s->count && !ferror(out); i++) {
		if (i > 0)
			(void)fputs("\n", out);
		err = print_process(out, s->processes[i], names, options);
		if (err < 0)
			return err;
	}
	n = names_notes(names, &notes);
	for (size_t i = 0; i < n; i++) {
		(void)fputs(i ? "" : "\n", out);
		(void)fputs("Note: ", out);
		words_print(out, notes[i]);
		(void)fputs(".\n", out);
	}
	return ferror(out) ? -EIO : 0;
}

/* dot.c - a call graph for Graphviz, without small functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "print/export/export.h"
#include "print/export/callers.h"
#include "print/export/texts.h"
#include "view/sites/ages.h"
#include "view/sites/amount.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

enum {
	NODES = 80,     /* shown, unless --top says otherwise */
	NODE_PER = 200, /* and at least 1/NODE_PER of the total */
	EDGE_PER = 1000,
	NAME_CHARS = 72, /* characters of a function; the tooltip has all */
	FONT_MIN = 8,
	FONT_MAX = 28,
};

/* Costs of an edge or node. */
enum { NOW_BYTES, BEFORE_BYTES, NOW_BLOCKS, BEFORE_BLOCKS };

struct dot {
	FILE *out;
	const struct view *view;
	const struct export_options *options;
	struct functions *functions;
	struct graph *graph;
	uint64_t whole; /* the bytes that are 100 % */
};

static void find_costs(const struct view_site *s, void *context, uint64_t ret[GRAPH_COSTS])
{
	const struct export_options *o = context;

	ret[NOW_BYTES] = view_bytes(&s->figures, o->metric);
	ret[BEFORE_BYTES] = view_bytes(&s->before, o->metric);
	ret[NOW_BLOCKS] = view_blocks(&s->figures, o->metric);
	ret[BEFORE_BLOCKS] = view_blocks(&s->before, o->metric);
}

/* The absolute difference. */
static uint64_t weight(const uint64_t *cost)
{
	return cost[NOW_BYTES] > cost[BEFORE_BYTES] ? cost[NOW_BYTES] - cost[BEFORE_BYTES]
	                                            : cost[BEFORE_BYTES] - cost[NOW_BYTES];
}

static double share(const struct dot *d, const uint64_t *cost)
{
	return d->whole ? (double)weight(cost) / (double)d->whole : 0;
}

/* ---- words ---- */

/* In a quoted string; `limit` characters, 0: all. */
static void put_quoted(FILE *out, const char *text, size_t limit)
{
	size_t n = 0;

	for (; *text; text++) {
		bool begins = ((unsigned char)*text & 0xc0) != 0x80;

		if (begins && limit > 0 && n++ == limit) {
			(void)fputs("...", out);
			return;
		}
		if (*text == '"' || *text == '\\')
			(void)putc('\\', out);
		(void)putc(*text, out);
	}
}

/* Takes ownership of text; NULL: no memory. */
static void put_taken(FILE *out, char *text, size_t limit)
{
	if (text)
		put_quoted(out, text, limit);
	free(text);
}

/* "1,234 bytes (5.6%)" */
static void put_amount(const struct dot *d, const uint64_t *cost)
{
	const struct amount a = {.plus = cost[NOW_BYTES], .minus = cost[BEFORE_BYTES]};
	char buffer[WORDS_COUNTED_MAX];

	(void)fputs(amount_counted(buffer, &a, d->options->since, "byte"), d->out);
	if (d->whole > 0)
		(void)fprintf(d->out, " (%.1f%%)", 100 * share(d, cost));
}

/* Growth is red, shrinkage green; a larger share is a stronger colour. */
static void put_colour(const struct dot *d, const uint64_t *cost)
{
	double part = share(d, cost);
	bool grew = cost[NOW_BYTES] >= cost[BEFORE_BYTES];
	int pale = 245 - (int)(100 * sqrt(part > 1 ? 1 : part));

	if (grew)
		(void)fprintf(d->out, "#f5%02x%02x", pale, pale);
	else
		(void)fprintf(d->out, "#%02xf5%02x", pale, pale);
}

/* ---- the graph ---- */

static const uint64_t *self_of(const struct graph *g, uint32_t node)
{
	static const uint64_t nothing[GRAPH_COSTS];
	size_t low;

	/* the edges of a node end with itself: no callee has that number */
	low = sorted_first(g->edges, g->edge_count, x, x->caller <= node);
	for (size_t i = low; i > 0 && g->edges[i - 1].caller == node; i--)
		if (g->edges[i - 1].callee == GRAPH_SELF)
			return g->edges[i - 1].cost;
	return nothing;
}

static void put_node(const struct dot *d, uint32_t number)
{
	const struct graph_node *n = &d->graph->nodes[number];
	const struct frame *f = functions_frame(d->functions, n->function);
	const uint64_t *self = self_of(d->graph, number);
	double part = share(d, self);
	char blocks[WORDS_COUNTED_MAX];
	const struct amount a = {.plus = n->cost[NOW_BLOCKS], .minus = n->cost[BEFORE_BLOCKS]};

	(void)fprintf(d->out, "n%" PRIu32 " [label=\"", number + 1);
	put_taken(d->out, texts_name_of(f), NAME_CHARS);
	if (f->module && !f->is_main && f->function) {
		(void)fputs("\\n[", d->out);
		put_taken(d->out, texts_shown(text_base(f->module)), NAME_CHARS);
		(void)putc(']', d->out);
	}
	if (weight(self) > 0) {
		(void)fputs("\\n", d->out);
		put_amount(d, self);
	}
	if (weight(self) != weight(n->cost)) {
		(void)fputs("\\nof ", d->out);
		put_amount(d, n->cost);
	}
	(void)fprintf(d->out, "\", fontsize=%d, fillcolor=\"",
	    FONT_MIN + (int)((FONT_MAX - FONT_MIN) * sqrt(part > 1 ? 1 : part)));
	put_colour(d, n->cost);
	(void)fputs("\", tooltip=\"", d->out);
	put_taken(d->out, f->function ? texts_shown(f->function) : texts_name_of(f), 0);
	(void)fprintf(d->out, ": %s\"];\n", amount_counted(blocks, &a, d->options->since, "block"));
}

static void put_edge(const struct dot *d, const struct graph_edge *e)
{
	double part = share(d, e->cost);

	if (e->callee == GRAPH_SELF || (weight(e->cost) < d->whole / EDGE_PER && !d->options->full))
		return;
	(void)fprintf(
	    d->out, "n%" PRIu32 " -> n%" PRIu32 " [label=\" ", e->caller + 1, e->callee + 1);
	put_amount(d, e->cost);
	(void)fprintf(d->out, "\", penwidth=%.1f%s%s];\n", 1 + 4 * (part > 1 ? 1 : part),
	    e->is_residual ? ", style=dashed" : "",
	    e->cost[NOW_BYTES] < e->cost[BEFORE_BYTES] ? ", color=\"#2e7d32\"" : "");
}

/* ---- which functions ---- */

struct candidate {
	uint32_t function;
	uint64_t weight;
};

BY(heavier, struct candidate, DOWN(weight) ?: UP(function))

/* Functions to keep, by number; for free(). NULL: out of memory. */
static bool *choose(const struct dot *d)
{
	const struct graph *g = d->graph;
	bool full = d->options->full;
	size_t limit = full ? SIZE_MAX : d->options->top;
	struct candidate *list = calloc(g->node_count + 1, sizeof(*list));
	bool *keep = calloc(functions_count(d->functions) + 1, sizeof(*keep));

	if (!list || !keep) {
		free(list);
		free(keep);
		return NULL;
	}
	if (limit == 0)
		limit = NODES;
	for (size_t i = 0; i < g->node_count; i++)
		list[i] = (struct candidate){
		    .function = g->nodes[i].function, .weight = weight(g->nodes[i].cost)};
	qsort(list, g->node_count, sizeof(*list), heavier);
	for (size_t i = 0; i < g->node_count && i < limit; i++)
		keep[list[i].function] = list[i].weight > 0 &&
		    (d->options->top || full || list[i].weight >= d->whole / NODE_PER);
	free(list);
	return keep;
}

/* The bytes that are 100 %: the total, or the sum of all changes. */
static uint64_t find_whole(const struct view *v, const struct export_options *o)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < v->site_count; i++) {
		uint64_t now = view_bytes(&v->sites[i].figures, o->metric);
		uint64_t before = view_bytes(&v->sites[i].before, o->metric);
		uint64_t n = now > before ? now - before : before - now;

		sum = sum > UINT64_MAX - n ? UINT64_MAX : sum + n;
	}
	return sum;
}

/* ---- the file ---- */

static const char *metric_name(int metric)
{
	switch (metric) {
	case VIEW_PEAK:
		return "live at the peak";
	case VIEW_ALLOCS:
		return "allocated";
	case VIEW_TEMPORARY:
		return "freed within ";
	default:
		return "live";
	}
}

static void put_line(FILE *out, const char *text, size_t len)
{
	char *line = strndup(text, len);

	if (line)
		put_quoted(out, line, 0);
	free(line);
	(void)fputs("\\l", out);
}

static int put_file(const struct dot *d, size_t all)
{
	const struct graph *g = d->graph;
	char *remarks = remarks_of(d->view, d->options);

	if (!remarks)
		return -ENOMEM;
	(void)fputs("digraph seep {\n"
	            "graph [fontname=\"sans-serif\", labelloc=t, labeljust=l, "
	            "label=\"",
	    d->out);
	(void)fputs(metric_name(d->options->metric), d->out);
	if (d->options->metric == VIEW_TEMPORARY)
		(void)fputs(WORDS_TIME(ages_temporary_ns(d->view)), d->out);
	(void)fputs(": ", d->out);
	put_amount(d, g->total);
	(void)fprintf(d->out, "; %zu of %zu functions\\l", g->node_count, all);
	for (const char *at = remarks; *at;) {
		size_t n = strcspn(at, "\n");

		put_line(d->out, at, n);
		at += n + (at[n] != '\0');
	}
	free(remarks);
	(void)fputs("\"];\nnode [shape=box, style=filled, "
	            "fontname=\"sans-serif\", color=\"#888888\"];\n"
	            "edge [fontname=\"sans-serif\", fontsize=9, "
	            "color=\"#b71c1c\"];\n",
	    d->out);
	for (uint32_t i = 0; i < g->node_count; i++)
		put_node(d, i);
	for (size_t i = 0; i < g->edge_count; i++)
		put_edge(d, &g->edges[i]);
	(void)fputs("}\n", d->out);
	return ferror(d->out) ? -EIO : 0;
}

static int write_dot(FILE *out, const struct view *v, const struct export_options *o)
{
	struct export_options copy = *o;
	struct graph_options options = {.costs = find_costs, .context = &copy};
	struct dot d = {.out = out, .view = v, .options = o, .whole = find_whole(v, o)};
	bool *keep = NULL;
	size_t all = 0;
	int err;

	err = functions_new(v, &d.functions);
	if (err == 0)
		err = call_graph_new(v, d.functions, &options, &d.graph);
	if (err == 0) {
		all = d.graph->node_count;
		keep = choose(&d);
		err = keep ? 0 : -ENOMEM;
	}
	if (err == 0) {
		/* again, with dashed lines over the functions that are left out */
		call_graph_free(d.graph);
		d.graph = NULL;
		options.keep = keep;
		err = call_graph_new(v, d.functions, &options, &d.graph);
	}
	if (err == 0)
		err = put_file(&d, all);
	free(keep);
	call_graph_free(d.graph);
	functions_free(d.functions);
	return err;
}

const struct export_format export_dot = {
    .name = "dot",
    .extension = ".dot",
    .what = "a call graph for Graphviz, only the largest functions",
    .flags = EXPORT_GROUPED | EXPORT_FOLDED | EXPORT_MERGED | EXPORT_METRIC | EXPORT_SINCE |
        EXPORT_DEPTH | EXPORT_TOP,
    .write = write_dot,
};

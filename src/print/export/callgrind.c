/* callgrind.c - callgrind's format: callgrind_annotate, kcachegrind. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/callers.h"
#include "print/export/texts.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"

/* The first six and their words are those of valgrind --xtree-memory=full. */
static const struct {
	const char *name, *words;
} events[GRAPH_COSTS] = {
    {"curB", "currently allocated Bytes"},
    {"curBk", "currently allocated Blocks"},
    {"totB", "total allocated Bytes"},
    {"totBk", "total allocated Blocks"},
    {"totFdB", "total Freed Bytes"},
    {"totFdBk", "total Freed Blocks"},
    {"peakB", "Bytes at the peak of the process"},
    {"peakBk", "Blocks at the peak of the process"},
};

enum { CALLS = 3 }; /* totBk */

static void find_costs(const struct view_site *s, void *context, uint64_t ret[GRAPH_COSTS])
{
	const struct process_figures *f = &s->figures.all;

	(void)context;
	ret[0] = f->live_bytes;
	ret[1] = f->live_blocks;
	ret[2] = f->allocated_bytes;
	ret[3] = f->allocations;
	ret[4] = f->freed_bytes;
	ret[5] = f->frees;
	ret[6] = f->peak_bytes;
	ret[7] = f->peak_blocks;
}

/* Each name is written once, later its number; each kind has its own. */
struct callgrind {
	FILE *out;
	const struct graph *graph;
	const struct functions *functions;
	struct strings files, objects;
	bool *named; /* by node */
	int err;
};

/* "fl=(3) name", and from the second time on "fl=(3)" */
static void put_text(struct callgrind *c, const char *key, struct strings *all, const char *text)
{
	size_t before = all->count;
	uint32_t number = 0;

	if (!text || !*text)
		text = "???";
	c->err = strings_find(all, text, &number);
	if (c->err < 0)
		return;
	(void)fprintf(c->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (number == before) {
		(void)putc(' ', c->out);
		text_print(c->out, text);
	}
	(void)putc('\n', c->out);
}

/* Recursive calls are named f'2, f'3, ..., as by callgrind itself. */
static void put_function(struct callgrind *c, const char *key, uint32_t node)
{
	const struct graph_node *n = &c->graph->nodes[node];

	(void)fprintf(c->out, "%s=(%" PRIu32 ")", key, node + 1);
	if (!c->named[node]) {
		c->named[node] = true;
		(void)putc(' ', c->out);
		texts_name(c->out, functions_frame(c->functions, n->function));
		if (n->level > 0)
			(void)fprintf(c->out, "'%" PRIu32, n->level + 1);
	}
	(void)putc('\n', c->out);
}

static void put_costs(FILE *out, uint32_t line, const uint64_t *cost)
{
	(void)fprintf(out, "%" PRIu32, line);
	for (int i = 0; i < GRAPH_COSTS; i++)
		(void)fprintf(out, " %" PRIu64, cost[i]);
	(void)putc('\n', out);
}

static void put_edge(struct callgrind *c, const struct graph_edge *e)
{
	const struct frame *callee;
	uint64_t calls = e->cost[CALLS];

	if (e->callee == GRAPH_SELF) {
		put_costs(c->out, e->line, e->cost);
		return;
	}
	callee = functions_frame(c->functions, c->graph->nodes[e->callee].function);
	put_text(c, "cob", &c->objects, callee->module);
	put_text(c, "cfi", &c->files, callee->file);
	put_function(c, "cfn", e->callee);
	/* The number of calls is not known; use that of the allocations. */
	(void)fprintf(c->out, "calls=%" PRIu64 " 0\n", calls ? calls : 1);
	put_costs(c->out, e->line, e->cost);
}

static void put_graph(struct callgrind *c)
{
	uint32_t last = GRAPH_SELF;

	for (size_t i = 0; i < c->graph->edge_count && c->err == 0; i++) {
		const struct graph_edge *e = &c->graph->edges[i];

		if (e->caller != last) {
			const struct frame *f =
			    functions_frame(c->functions, c->graph->nodes[e->caller].function);

			last = e->caller;
			(void)putc('\n', c->out);
			put_text(c, "ob", &c->objects, f->module);
			put_text(c, "fl", &c->files, f->file);
			put_function(c, "fn", e->caller);
		}
		put_edge(c, e);
	}
	if (c->graph->no_frames[CALLS] > 0) {
		(void)putc('\n', c->out);
		put_text(c, "ob", &c->objects, NULL);
		put_text(c, "fl", &c->files, NULL);
		(void)fputs("fn=(no frames)\n", c->out);
		put_costs(c->out, 0, c->graph->no_frames);
	}
}

static int put_head(const struct callgrind *c, const struct view *v, const struct export_options *o)
{
	const struct session *s = v->session;
	char *remarks = remarks_of(v, o);

	if (!remarks)
		return -ENOMEM;
	(void)fprintf(c->out, "# callgrind format\nversion: 1\ncreator: seep %s\n", o->version);
	for (size_t i = 0; i < s->count; i++) {
		if (!export_has(o, s->processes[i]))
			continue;
		(void)fprintf(c->out, "pid: %" PRIu32 "\ncmd: ", s->processes[i]->header.pid);
		texts_command(c->out, s->processes[i]);
		(void)putc('\n', c->out);
		break;
	}
	remarks_put(c->out, remarks, "desc: ", "\n");
	free(remarks);
	(void)fputs("positions: line\n", c->out);
	for (int i = 0; i < GRAPH_COSTS; i++)
		(void)fprintf(c->out, "event: %s : %s\n", events[i].name, events[i].words);
	(void)fputs("events:", c->out);
	for (int i = 0; i < GRAPH_COSTS; i++)
		(void)fprintf(c->out, " %s", events[i].name);
	(void)putc('\n', c->out);
	return 0;
}

static int write_callgrind(FILE *out, const struct view *v, const struct export_options *o)
{
	const struct graph_options options = {.costs = find_costs, .levels = true, .lines = true};
	struct functions *functions = NULL;
	struct graph *graph = NULL;
	struct callgrind c = {.out = out};

	c.err = functions_new(v, &functions);
	if (c.err == 0)
		c.err = call_graph_new(v, functions, &options, &graph);
	if (c.err == 0) {
		c.functions = functions;
		c.graph = graph;
		c.named = calloc(graph->node_count + 1, sizeof(*c.named));
		c.err = c.named ? put_head(&c, v, o) : -ENOMEM;
	}
	if (c.err == 0)
		put_graph(&c);
	if (c.err == 0) {
		(void)fputs("\ntotals:", out);
		for (int i = 0; i < GRAPH_COSTS; i++)
			(void)fprintf(out, " %" PRIu64, graph->total[i]);
		(void)putc('\n', out);
	}
	strings_release(&c.files);
	strings_release(&c.objects);
	free(c.named);
	call_graph_free(graph);
	functions_free(functions);
	return c.err < 0 ? c.err : ferror(out) ? -EIO : 0;
}

const struct export_format export_callgrind = {
    .name = "callgrind",
    .extension = ".callgrind",
    .what = "valgrind's call graph: callgrind_annotate, kcachegrind",
    .flags = EXPORT_GROUPED | EXPORT_FOLDED | EXPORT_MERGED | EXPORT_DEAD | EXPORT_DEPTH,
    .write = write_callgrind,
};

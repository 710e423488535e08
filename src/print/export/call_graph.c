/* call_graph.c - the call graph of a view, with inclusive and own costs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/callers.h"

#include "kit/data/dict.h"
#include "kit/data/room.h"

/* How often a function occurs in the present stack. */
struct level {
	uint32_t seen; /* number of the last stack that had it */
	uint32_t level;
};

struct builder {
	const struct view *view;
	struct functions *functions;
	const struct graph_options *options;
	struct graph *graph;
	size_t node_room, edge_room;
	struct dict node_index, edge_index;
	struct level *levels; /* by function */
	size_t level_room;
};

static void add(uint64_t *to, const uint64_t *from)
{
	for (int i = 0; i < GRAPH_COSTS; i++)
		to[i] = to[i] > UINT64_MAX - from[i] ? UINT64_MAX : to[i] + from[i];
}

static bool same_node(const void *items, uint32_t item, const void *key)
{
	const struct graph_node *a = (const struct graph_node *)items + item;
	const struct graph_node *b = key;

	return a->function == b->function && a->level == b->level;
}

static int find_node(struct builder *b, uint32_t function, uint32_t level, uint32_t *ret)
{
	struct graph *g = b->graph;
	const struct graph_node fresh = {.function = function, .level = level};
	int err;

	err = room_make(&g->nodes, &b->node_room, g->node_count, sizeof(*g->nodes));
	if (err < 0)
		return err;
	err = dict_find(&b->node_index, dict_hash(function, level, 5), same_node, g->nodes, &fresh,
	    (uint32_t)g->node_count, ret);
	if (err == 0 && *ret == g->node_count)
		g->nodes[g->node_count++] = fresh;
	return err;
}

static bool same_edge(const void *items, uint32_t item, const void *key)
{
	const struct graph_edge *a = (const struct graph_edge *)items + item;
	const struct graph_edge *b = key;

	return a->caller == b->caller && a->callee == b->callee && a->line == b->line &&
	    a->is_residual == b->is_residual;
}

/* An edge counts a stack once, too. */
static int add_edge(
    struct builder *b, const struct graph_edge *fresh, uint32_t seen, const uint64_t *cost)
{
	struct graph *g = b->graph;
	uint32_t at;
	int err;

	err = room_make(&g->edges, &b->edge_room, g->edge_count, sizeof(*g->edges));
	if (err < 0)
		return err;
	err = dict_find(&b->edge_index,
	    dict_hash(
	        (uint64_t)fresh->caller << 32 | fresh->callee, fresh->line, fresh->is_residual),
	    same_edge, g->edges, fresh, (uint32_t)g->edge_count, &at);
	if (err < 0)
		return err;
	if (at == g->edge_count)
		g->edges[g->edge_count++] = *fresh;
	if (g->edges[at].seen == seen)
		return 0;
	g->edges[at].seen = seen;
	add(g->edges[at].cost, cost);
	return 0;
}

/* Which recursion of the function this is, from the outermost on. */
static int find_level(struct builder *b, uint32_t function, uint32_t seen, uint32_t *ret)
{
	if (function >= b->level_room) {
		size_t room = ((size_t)function + 1) * 2;
		struct level *bigger = reallocarray(b->levels, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		memset(bigger + b->level_room, 0, (room - b->level_room) * sizeof(*bigger));
		b->levels = bigger;
		b->level_room = room;
	}
	if (b->levels[function].seen == seen)
		b->levels[function].level++;
	else
		b->levels[function] = (struct level){.seen = seen};
	*ret = b->options->levels ? b->levels[function].level : 0;
	return 0;
}

/* The node of a frame; *ret_kept false: it is left out. */
static int enter_frame(
    struct builder *b, uint32_t frame, uint32_t seen, uint32_t *ret, bool *ret_kept)
{
	uint32_t function, level;
	int err;

	*ret_kept = true;
	err = functions_find(b->functions, frame, &function);
	if (err < 0)
		return err;
	if (b->options->keep && !b->options->keep[function]) {
		*ret_kept = false;
		return 0;
	}
	err = find_level(b, function, seen, &level);
	if (err == 0)
		err = find_node(b, function, level, ret);
	return err;
}

static void count_node(struct graph *g, uint32_t number, uint32_t seen, const uint64_t *cost)
{
	if (g->nodes[number].seen == seen)
		return;
	g->nodes[number].seen = seen;
	add(g->nodes[number].cost, cost);
}

/* From the outermost frame to the innermost; `seen` is no other stack's. */
static int enter_stack(struct builder *b, const struct view_site *s, uint32_t seen)
{
	struct graph_edge edge = {.caller = GRAPH_SELF, .callee = GRAPH_SELF};
	uint64_t cost[GRAPH_COSTS] = {0};
	int err = 0;

	b->options->costs(s, b->options->context, cost);
	add(b->graph->total, cost);
	if (s->frame_count == 0)
		add(b->graph->no_frames, cost);
	for (uint32_t i = s->frame_count; i-- > 0 && err == 0;) {
		uint32_t node;
		bool kept;

		err = enter_frame(b, s->frames[i], seen, &node, &kept);
		if (err < 0)
			return err;
		if (!kept) {
			edge.is_residual = true;
			continue;
		}
		count_node(b->graph, node, seen, cost);
		if (edge.caller != GRAPH_SELF) {
			edge.callee = node;
			err = add_edge(b, &edge, seen, cost);
		}
		edge = (struct graph_edge){.caller = node,
		    .callee = GRAPH_SELF,
		    .line = b->options->lines ? b->view->frames[s->frames[i]].line : 0};
	}
	/* if the innermost functions are left out, this one does not allocate */
	if (err == 0 && edge.caller != GRAPH_SELF && !edge.is_residual)
		err = add_edge(b, &edge, seen, cost);
	return err;
}

static int by_caller(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (int)x->is_residual - (int)y->is_residual;
}

int call_graph_new(const struct view *v, struct functions *functions,
    const struct graph_options *options, struct graph **ret)
{
	struct builder b = {.view = v, .functions = functions, .options = options};
	int err = 0;

	if (v->site_count >= INT32_MAX) /* `seen` has 31 bits for a stack */
		return -ENOMEM;
	b.graph = calloc(1, sizeof(*b.graph));
	if (!b.graph)
		return -ENOMEM;
	for (size_t i = 0; i < v->site_count && err == 0; i++)
		err = enter_stack(&b, &v->sites[i], (uint32_t)i + 1);
	dict_release(&b.node_index);
	dict_release(&b.edge_index);
	free(b.levels);
	if (err < 0) {
		call_graph_free(b.graph);
		return err;
	}
	if (b.graph->edge_count > 0)
		qsort(b.graph->edges, b.graph->edge_count, sizeof(*b.graph->edges), by_caller);
	*ret = b.graph;
	return 0;
}

void call_graph_free(struct graph *g)
{
	if (!g)
		return;
	free(g->nodes);
	free(g->edges);
	free(g);
}

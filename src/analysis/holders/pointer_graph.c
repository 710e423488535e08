/* pointer_graph.c - who points to whom, as numbers: an order from the roots, and backwards. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/heap_graph.h"

#include "analysis/leaks/heap.h"

/* ---- memory --------------------------------------------------------------- */

void *pointer_graph_take(struct graph_memory *m, uint64_t count, size_t size, int *err)
{
	uint64_t bytes = count * size;
	void *p;

	if (bytes > m->max_bytes || m->bytes > m->max_bytes - bytes) {
		m->refused = m->bytes + bytes;
		*err = -E2BIG;
		return NULL;
	}
	p = large_zeroed(bytes);
	*err = p ? 0 : -ENOMEM;
	if (!p)
		return NULL;
	m->bytes += bytes;
	if (m->most < m->bytes)
		m->most = m->bytes;
	return p;
}

void pointer_graph_give(struct graph_memory *m, void *p, uint64_t count, size_t size)
{
	if (!p)
		return;
	free(p);
	m->bytes -= count * size;
}

/* ---- the walk ------------------------------------------------------------- */

struct walk {
	const struct graph *g;
	struct graph_order *o;
	uint32_t *next; /* by number: which pointer of its node comes next */
};

static uint32_t enter(struct walk *w, uint32_t node, uint32_t parent)
{
	uint32_t v = w->o->count++;

	w->o->number[node] = v;
	w->o->node[v] = node;
	w->o->parent[v] = parent;
	return v;
}

/* All that can be reached from a node and has no number yet. */
static void walk_from(struct walk *w, uint32_t node)
{
	const struct graph *g = w->g;
	uint32_t v = enter(w, node, 0);

	while (v != 0) {
		uint32_t at = w->o->node[v];
		uint64_t k = g->begin[at] + w->next[v];

		/* a row of more than 2^32 pointers is cut */
		if (k >= g->begin[at + 1] || w->next[v] == UINT32_MAX) {
			v = w->o->parent[v];
			continue;
		}
		w->next[v]++;
		if (w->o->number[g->to[k]] == 0)
			v = enter(w, g->to[k], v);
	}
}

int pointer_graph_walk(const struct graph *g, const struct graph_root *roots, size_t count,
    struct graph_memory *m, struct graph_order *ret)
{
	struct graph_order o = {.count = 1, .nodes = g->nodes};
	const uint64_t room = (uint64_t)g->nodes + 1;
	struct walk w = {.g = g, .o = &o};
	int err;

	o.number = pointer_graph_take(m, room, sizeof(*o.number), &err);
	if (err == 0)
		o.node = pointer_graph_take(m, room, sizeof(*o.node), &err);
	if (err == 0)
		o.parent = pointer_graph_take(m, room, sizeof(*o.parent), &err);
	if (err == 0)
		w.next = pointer_graph_take(m, room, sizeof(*w.next), &err);
	for (uint32_t layer = 0; err == 0 && layer < GRAPH_LAYERS; layer++) {
		o.first[layer] = o.count;
		for (size_t i = 0; i < count; i++)
			if (roots[i].layer == layer && o.number[roots[i].node] == 0)
				walk_from(&w, roots[i].node);
	}
	o.first[GRAPH_LAYERS] = o.count;
	pointer_graph_give(m, w.next, room, sizeof(*w.next));
	if (err < 0) {
		pointer_graph_order_release(&o, m);
		return err;
	}
	*ret = o;
	return 0;
}

void pointer_graph_order_release(struct graph_order *o, struct graph_memory *m)
{
	const uint64_t room = (uint64_t)o->nodes + 1;

	pointer_graph_give(m, o->number, room, sizeof(*o->number));
	pointer_graph_give(m, o->node, room, sizeof(*o->node));
	pointer_graph_give(m, o->parent, room, sizeof(*o->parent));
	*o = (struct graph_order){0};
}

unsigned pointer_graph_layer(const struct graph_order *o, uint32_t number)
{
	unsigned layer = 0;

	while (layer + 1 < GRAPH_LAYERS && number >= o->first[layer + 1])
		layer++;
	return layer;
}

/* ---- backwards ------------------------------------------------------------ */

/* Calls nothing for pointers that do not count. */
static bool counts(const struct graph_order *o, uint32_t from, uint32_t to)
{
	return from != to &&
	    (to >= from || pointer_graph_layer(o, from) <= pointer_graph_layer(o, to));
}

/* How many point to each number, in begin[number + 1]. */
static void count_pointers(const struct graph *g, const struct graph_order *o,
    const struct graph_root *roots, size_t count, struct graph_back *b)
{
	for (size_t i = 0; i < count; i++)
		b->begin[o->number[roots[i].node] + 1]++;
	for (uint32_t v = 1; v < o->count; v++) {
		uint32_t at = o->node[v];

		for (uint64_t k = g->begin[at]; k < g->begin[at + 1]; k++) {
			uint32_t to = o->number[g->to[k]];

			b->begin[to + 1] += to && counts(o, v, to);
		}
	}
}

static void fill_pointers(const struct graph *g, const struct graph_order *o,
    const struct graph_root *roots, size_t count, struct graph_back *b)
{
	/* begin[v] is where the next one of v goes; in the end where v's end is */
	for (size_t i = 0; i < count; i++)
		b->from[b->begin[o->number[roots[i].node]]++] = 0;
	for (uint32_t v = 1; v < o->count; v++) {
		uint32_t at = o->node[v];

		for (uint64_t k = g->begin[at]; k < g->begin[at + 1]; k++) {
			uint32_t to = o->number[g->to[k]];

			if (to && counts(o, v, to))
				b->from[b->begin[to]++] = v;
		}
	}
	for (uint32_t v = b->count; v > 0; v--)
		b->begin[v] = b->begin[v - 1];
	b->begin[0] = 0;
}

int pointer_graph_turn(const struct graph *g, const struct graph_order *o,
    const struct graph_root *roots, size_t count, struct graph_memory *m, struct graph_back *ret)
{
	struct graph_back b = {.count = o->count};
	int err;

	b.begin = pointer_graph_take(m, (uint64_t)b.count + 1, sizeof(*b.begin), &err);
	if (err < 0)
		return err;
	count_pointers(g, o, roots, count, &b);
	for (uint32_t v = 0; v < b.count; v++)
		b.begin[v + 1] += b.begin[v];
	b.edges = b.begin[b.count];
	b.from = pointer_graph_take(m, b.edges, sizeof(*b.from), &err);
	if (err < 0) {
		pointer_graph_back_release(&b, m);
		return err;
	}
	fill_pointers(g, o, roots, count, &b);
	*ret = b;
	return 0;
}

void pointer_graph_back_release(struct graph_back *b, struct graph_memory *m)
{
	pointer_graph_give(m, b->begin, (uint64_t)b->count + 1, sizeof(*b->begin));
	pointer_graph_give(m, b->from, b->edges, sizeof(*b->from));
	*b = (struct graph_back){0};
}

/* dominators.c - of each node of a graph, the last one that all ways to it pass. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/holders.h"

/* All by number. */
struct search {
	uint32_t *parent; /* of a linked one: an ancestor, by compression */
	uint32_t *semi;   /* the semidominator */
	uint32_t *label;  /* on the way to that ancestor, the least semi has */
	uint32_t *path;   /* of one compression */
	uint32_t *first;  /* of those whose semidominator this is */
	uint32_t *idom;   /* before it is known: the next of such a list */
};

/*
 * Numbers from `linked` on have been done, and are a forest with their parents.
 * The one with the least semidominator on the way from v up to the root of its
 * tree, without that root. The way is shortened.
 */
static uint32_t evaluate(struct search *s, uint32_t v, uint32_t linked)
{
	size_t depth = 0;
	uint32_t above;

	if (v < linked)
		return v;
	while (s->parent[v] >= linked) {
		s->path[depth++] = v;
		v = s->parent[v];
	}
	above = v;
	while (depth > 0) {
		v = s->path[--depth];
		s->parent[v] = s->parent[above];
		if (s->semi[s->label[above]] < s->semi[s->label[v]])
			s->label[v] = s->label[above];
		above = v;
	}
	return s->label[v];
}

static void search(struct search *s, const struct graph_back *b, uint32_t count)
{
	for (uint32_t v = 0; v < count; v++)
		s->semi[v] = s->label[v] = v;
	for (uint32_t w = count - 1; w > 0; w--) {
		uint32_t parent = s->parent[w], v, next;

		for (uint64_t k = b->begin[w]; k < b->begin[w + 1]; k++) {
			uint32_t u = evaluate(s, b->from[k], w + 1);

			if (s->semi[u] < s->semi[w])
				s->semi[w] = s->semi[u];
		}
		s->idom[w] = s->first[s->semi[w]];
		s->first[s->semi[w]] = w;
		/* w is linked now: those that wait for its parent are settled */
		for (v = s->first[parent]; v != 0; v = next) {
			uint32_t u = evaluate(s, v, w);

			next = s->idom[v];
			s->idom[v] = s->semi[u] < s->semi[v] ? u : parent;
		}
		s->first[parent] = 0;
	}
	for (uint32_t v = 1; v < count; v++)
		if (s->idom[v] != s->semi[v])
			s->idom[v] = s->idom[s->idom[v]];
}

int dominators_find(
    struct graph_order *o, const struct graph_back *b, struct graph_memory *m, uint32_t **ret)
{
	const uint64_t n = o->count;
	struct search s = {.parent = o->parent};
	int err;

	s.semi = pointer_graph_take(m, n, sizeof(*s.semi), &err);
	if (err == 0)
		s.label = pointer_graph_take(m, n, sizeof(*s.label), &err);
	if (err == 0)
		s.path = pointer_graph_take(m, n, sizeof(*s.path), &err);
	if (err == 0)
		s.first = pointer_graph_take(m, n, sizeof(*s.first), &err);
	if (err == 0)
		s.idom = pointer_graph_take(m, n, sizeof(*s.idom), &err);
	if (err == 0) {
		search(&s, b, o->count);
		*ret = s.idom;
		s.idom = NULL;
	}
	pointer_graph_give(m, s.semi, n, sizeof(*s.semi));
	pointer_graph_give(m, s.label, n, sizeof(*s.label));
	pointer_graph_give(m, s.path, n, sizeof(*s.path));
	pointer_graph_give(m, s.first, n, sizeof(*s.first));
	pointer_graph_give(m, s.idom, n, sizeof(*s.idom));
	pointer_graph_give(m, o->parent, (uint64_t)o->nodes + 1, sizeof(*o->parent));
	o->parent = NULL;
	return err;
}

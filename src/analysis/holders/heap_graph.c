/* heap_graph.c - a judged heap as a graph, in less memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/heap_graph.h"

#include "kit/data/room.h"
#include "analysis/leaks/heap_parts.h"

/* Drops what only a look needs. */
static void drop_index(struct heap *h)
{
	for (uint64_t i = 0; h->regions && i <= h->region_mask; i++)
		free(h->regions[i].first);
	free(h->regions);
	free(h->keys);
	free(h->roots.at);
	h->regions = NULL;
	h->keys = NULL;
	h->roots = (struct heap_edges){0};
}

static int add_large(struct heap_graph *g, size_t *room, uint32_t block, uint64_t size)
{
	int err = room_make(&g->large, room, g->large_count, sizeof(*g->large));

	if (err == 0)
		g->large[g->large_count++] =
		    (struct heap_graph_large){.block = block, .size = size};
	return err;
}

static int by_block(const void *a, const void *b)
{
	uint32_t x = ((const struct heap_graph_large *)a)->block;
	uint32_t y = ((const struct heap_graph_large *)b)->block;

	return (x > y) - (x < y);
}

static int set_block(
    struct heap_graph *g, size_t *room, uint32_t node, uint32_t site, uint64_t size)
{
	g->site[node] = site;
	g->size[node] = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	return size < UINT32_MAX ? 0 : add_large(g, room, node, size);
}

static int take_blocks(const struct heap *h, const struct heap_graph_input *in,
    struct graph_memory *m, struct heap_graph *g)
{
	size_t room = 0;
	int err;

	g->site = pointer_graph_take(m, g->blocks, sizeof(*g->site), &err);
	if (err == 0)
		g->size = pointer_graph_take(m, g->blocks, sizeof(*g->size), &err);
	for (uint32_t i = 0; err == 0 && i < h->count; i++) {
		const struct heap_block *b = &h->blocks[i];

		err = set_block(g, &room, i, in->site_of(in->context, b->site), b->size);
	}
	for (size_t i = 0; err == 0 && i < in->more_count; i++) {
		const struct heap_graph_block *b = &in->more[i];

		if (b->node < g->blocks)
			err = set_block(
			    g, &room, b->node, in->site_of(in->context, b->site), b->size);
	}
	if (err == 0 && g->large_count > 1)
		qsort(g->large, g->large_count, sizeof(*g->large), by_block);
	return err;
}

/* Rows of blocks, in their place; what is left is a part of what was there. */
static void take_rows(struct heap *h)
{
	uint64_t kept = 0, from = h->begin[0];

	for (size_t i = 0; i < h->count; i++) {
		uint64_t end = h->begin[i + 1], first = kept;

		h->begin[i] = first;
		for (uint64_t k = from; k < end; k++) {
			uint32_t edge = h->edges.at[k];
			uint32_t to = heap_edge_to(edge);

			if (heap_edge_is_weak(edge) || to == i ||
			    (kept > first && h->edges.at[kept - 1] == to))
				continue;
			h->edges.at[kept++] = to;
		}
		from = end;
	}
	h->begin[h->count] = kept;
	h->edges.count = kept;
}

static bool is_head(const struct heap *h, uint32_t i)
{
	enum heap_role role = heap_role(h, i);

	return role == HEAP_DIRECT || role == HEAP_CYCLE;
}

/* Adds up how many pointers each root has, in begin[blocks + root + 1]. */
static void count_rows(const struct heap *h, const struct heap_graph_input *in, uint64_t *rows)
{
	for (size_t i = 0; i < in->count; i++)
		rows[in->pointers[i].root + 1]++;
	for (uint32_t i = 0; i < h->count; i++) {
		rows[in->lost + 1] += is_head(h, i);
		rows[in->weak + 1] += heap_reach(h, i) == HEAP_POSSIBLE;
	}
	for (uint32_t r = 0; r < in->roots; r++)
		rows[r + 1] += rows[r];
}

/* rows[r] is where the next pointer of r goes. */
static void fill_rows(
    const struct heap *h, const struct heap_graph_input *in, uint64_t *rows, uint32_t *to)
{
	for (size_t i = 0; i < in->count; i++)
		to[rows[in->pointers[i].root]++] = in->pointers[i].target;
	for (uint32_t i = 0; i < h->count; i++) {
		if (is_head(h, i))
			to[rows[in->lost]++] = i;
		if (heap_reach(h, i) == HEAP_POSSIBLE)
			to[rows[in->weak]++] = i;
	}
	for (uint32_t r = in->roots; r > 0; r--)
		rows[r] = rows[r - 1];
}

/* Makes an array of the heap ours, with another length. */
static void *adopt(struct graph_memory *m, void **array, uint64_t count, size_t size, int *err)
{
	uint64_t bytes = count * size;
	void *p;

	if (bytes > m->max_bytes || m->bytes > m->max_bytes - bytes) {
		m->refused = m->bytes + bytes;
		*err = -E2BIG;
		return NULL;
	}
	p = realloc(*array, bytes ? bytes : 1);
	*err = p ? 0 : -ENOMEM;
	if (!p)
		return NULL;
	*array = NULL;
	m->bytes += bytes;
	if (m->most < m->bytes)
		m->most = m->bytes;
	return p;
}

/*
 * Puts the pointers of in->edges into the rows, which are `own` pointers in all
 * so far. From behind, because rows only move up.
 */
static void insert_edges(
    struct heap_graph *g, const struct heap *h, const struct heap_graph_input *in, uint64_t own)
{
	uint64_t end = own, put = own + in->edge_count;
	size_t left = in->edge_count;

	if (g->blocks == 0)
		return;
	for (uint32_t i = g->blocks; i-- > 0;) {
		uint64_t first = i < h->count ? g->g.begin[i] : own;
		uint64_t n = end - first;

		if (i + 1 < g->blocks)
			g->g.begin[i + 1] = put;
		while (left > 0 && in->edges[left - 1].from >= i)
			g->g.to[--put] = in->edges[--left].to;
		put -= n;
		memmove(g->g.to + put, g->g.to + first, n * sizeof(*g->g.to));
		end = first;
	}
	g->g.begin[0] = put;
}

static int take_pointers(
    struct heap *h, const struct heap_graph_input *in, struct graph_memory *m, struct heap_graph *g)
{
	const uint64_t nodes = (uint64_t)g->blocks + in->roots;
	uint64_t own = h->edges.count, *rows, last;
	const uint64_t all = own + in->edge_count;
	int err = 0;

	if (nodes > GRAPH_NODES_MAX)
		return -E2BIG;
	g->g.nodes = (uint32_t)nodes;
	g->g.begin = adopt(m, (void **)&h->begin, nodes + 1, sizeof(*g->g.begin), &err);
	if (err < 0)
		return err;
	rows = g->g.begin + g->blocks;
	for (uint32_t r = 0; r <= in->roots; r++)
		rows[r] = 0;
	count_rows(h, in, rows);
	last = rows[in->roots];
	g->edges = all + last;
	g->g.to = adopt(m, (void **)&h->edges.at, g->edges, sizeof(*g->g.to), &err);
	if (err < 0)
		return err;
	insert_edges(g, h, in, own);
	fill_rows(h, in, rows, g->g.to + all);
	rows[0] = 0;
	for (uint32_t r = 0; r <= in->roots; r++)
		rows[r] += all;
	return 0;
}

int heap_graph_take(struct heap *h, const struct heap_graph_input *in, struct graph_memory *m,
    struct heap_graph *ret)
{
	struct heap_graph g = {.blocks = (uint32_t)h->count + in->new_nodes, .roots = in->roots};
	int err = 0;

	drop_index(h);
	if ((uint64_t)h->count + in->new_nodes > GRAPH_NODES_MAX)
		err = -E2BIG;
	if (err == 0)
		err = take_blocks(h, in, m, &g);
	if (err == 0) {
		free(h->blocks);
		h->blocks = NULL;
		take_rows(h);
		err = take_pointers(h, in, m, &g);
	}
	heap_free(h);
	if (err < 0) {
		heap_graph_release(&g, m);
		return err;
	}
	*ret = g;
	return 0;
}

void heap_graph_drop_pointers(struct heap_graph *g, struct graph_memory *m)
{
	pointer_graph_give(m, g->g.begin, (uint64_t)g->g.nodes + 1, sizeof(*g->g.begin));
	pointer_graph_give(m, g->g.to, g->edges, sizeof(*g->g.to));
	g->g.begin = NULL;
	g->g.to = NULL;
}

void heap_graph_release(struct heap_graph *g, struct graph_memory *m)
{
	heap_graph_drop_pointers(g, m);
	pointer_graph_give(m, g->site, g->blocks, sizeof(*g->site));
	pointer_graph_give(m, g->size, g->blocks, sizeof(*g->size));
	free(g->large);
	*g = (struct heap_graph){0};
}

uint64_t heap_graph_size(const struct heap_graph *g, uint32_t block)
{
	const struct heap_graph_large key = {.block = block}, *found;

	if (g->size[block] < UINT32_MAX)
		return g->size[block];
	found = bsearch(&key, g->large, g->large_count, sizeof(*g->large), by_block);
	return found ? found->size : UINT32_MAX;
}

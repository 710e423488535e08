/* held.c - who holds the blocks of a heap, and how much each retains. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/held.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/dominators.h"

enum {
	SAMPLE_BLOCKS = 256, /* of held_several() */
	SAMPLE_POINTERS = 4096,
	KINDS_MAX = 64, /* different nodes that are counted there */
};

static uint32_t
root_number(const struct held *h, uint32_t node)
{
	return node - h->graph.blocks;
}

static struct holders_item
ask(void *context, uint32_t number)
{
	const struct held *h = context;
	uint32_t node = h->order.node[number];

	if (node >= h->graph.blocks)
		return (struct holders_item){
		    .class = h->roots[root_number(h, node)].class,
		    .is_root = true};
	return (struct holders_item){.class = h->class_of[h->graph.site[node]],
	    .group = h->graph.site[node],
	    .bytes = heap_graph_size(&h->graph, node)};
}

static void
add(struct holders_sum *to, uint64_t bytes)
{
	to->blocks++;
	to->bytes += bytes;
}

static void
sum_sites(struct held *h)
{
	for (uint32_t i = 0; i < h->graph.blocks; i++) {
		uint64_t bytes = heap_graph_size(&h->graph, i);

		add(&h->sites[h->graph.site[i]].own, bytes);
		add(h->order.number[i] ? &h->all : &h->unheld, bytes);
	}
}

/* A root without a pointer is not in the tree. */
static struct graph_root *
make_roots(const struct held *h, const struct held_input *in, size_t *ret)
{
	struct graph_root *roots = calloc(in->root_count + 1, sizeof(*roots));
	const uint64_t *rows = h->graph.g.begin + h->graph.blocks;

	*ret = 0;
	for (uint32_t r = 0; roots && r < in->root_count; r++)
		if (rows[r + 1] > rows[r])
			roots[(*ret)++] =
			    (struct graph_root){.node = h->graph.blocks + r,
			        .layer = in->roots[r].layer};
	return roots;
}

static int
find_dominators(struct held *h, const struct held_input *in)
{
	struct graph_memory *m = &h->memory;
	size_t count;
	struct graph_root *roots = make_roots(h, in, &count);
	int err = roots ? 0 : -ENOMEM;

	if (err == 0)
		err = graph_walk(&h->graph.g, roots, count, m, &h->order);
	if (err == 0)
		err = graph_turn(
		    &h->graph.g, &h->order, roots, count, m, &h->back);
	free(roots);
	heap_graph_drop_pointers(&h->graph, m);
	return err == 0 ? dominators_find(&h->order, &h->back, m, &h->idom)
	                : err;
}

static int
make_holders(struct held *h)
{
	struct holders_sum *groups = calloc(h->site_count + 1, sizeof(*groups));
	int err;

	if (!groups)
		return -ENOMEM;
	err = holders_make(h->order.count, h->idom, ask, h, groups,
	    h->site_count, &h->memory, &h->holders);
	for (uint32_t i = 0; i < h->site_count && err == 0; i++)
		h->sites[i].retained = groups[i];
	free(groups);
	return err;
}

int
held_new(const struct held_input *in, struct held **ret, uint64_t *ret_needed)
{
	const struct heap_graph_input graph = {.pointers = in->pointers,
	    .count = in->pointer_count,
	    .roots = in->root_count,
	    .lost = in->lost,
	    .weak = in->weak,
	    .site_of = in->site_of,
	    .context = in->context};
	struct held *h = calloc(1, sizeof(*h));
	int err = h ? 0 : -ENOMEM;

	*ret_needed = 0;
	if (err == 0) {
		h->memory.max_bytes = in->max_bytes;
		h->class_of = in->class_of;
		h->site_count = in->site_count;
		h->sites = calloc(in->site_count + 1, sizeof(*h->sites));
		h->roots = calloc(in->root_count + 1, sizeof(*h->roots));
		if (!h->sites || !h->roots)
			err = -ENOMEM;
	}
	if (err < 0) {
		heap_free(in->heap);
		held_free(h);
		return err;
	}
	memcpy(h->roots, in->roots, in->root_count * sizeof(*h->roots));
	err = heap_graph_take(in->heap, &graph, &h->memory, &h->graph);
	if (err == 0)
		err = find_dominators(h, in);
	if (err == 0)
		err = make_holders(h);
	if (err < 0) {
		*ret_needed = h->memory.refused;
		held_free(h);
		return err;
	}
	sum_sites(h);
	*ret = h;
	return 0;
}

void
held_free(struct held *h)
{
	if (!h)
		return;
	holders_release(&h->holders, &h->memory);
	graph_give(&h->memory, h->idom, h->order.count, sizeof(*h->idom));
	graph_back_release(&h->back, &h->memory);
	graph_order_release(&h->order, &h->memory);
	heap_graph_release(&h->graph, &h->memory);
	free(h->sites);
	free(h->roots);
	free(h);
}

/* ---- answers -------------------------------------------------------------- */

static int
larger(const void *a, const void *b)
{
	const struct held_way *x = a, *y = b;

	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes > y->sum.bytes ? -1 : 1;
	if (x->sum.blocks != y->sum.blocks)
		return x->sum.blocks > y->sum.blocks ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

int
held_ways(const struct held *h, uint32_t site, struct held_way **ret,
    size_t *ret_count, struct holders_sum *ret_unheld)
{
	struct held_way *ways = calloc(h->holders.count, sizeof(*ways));
	size_t count = 0;

	if (!ways)
		return -ENOMEM;
	*ret_unheld = (struct holders_sum){0};
	for (uint32_t i = 0; i < h->graph.blocks; i++) {
		uint64_t bytes;

		if (h->graph.site[i] != site)
			continue;
		bytes = heap_graph_size(&h->graph, i);
		if (h->order.number[i])
			add(&ways[h->holders.of[h->order.number[i]]].sum,
			    bytes);
		else
			add(ret_unheld, bytes);
	}
	for (uint32_t n = 0; n < h->holders.count; n++) {
		if (ways[n].sum.blocks == 0)
			continue;
		ways[count] = ways[n];
		ways[count++].node = n;
	}
	if (count)
		qsort(ways, count, sizeof(*ways), larger);
	*ret = ways;
	*ret_count = count;
	return 0;
}

/* Nodes, and how often each was seen. */
struct seen {
	struct held_way at[KINDS_MAX];
	size_t count;
};

static void
count_seen(struct seen *s, uint32_t node)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->at[i].node == node)
			break;
	if (i == KINDS_MAX)
		return;
	if (i == s->count)
		s->at[s->count++] = (struct held_way){.node = node};
	add(&s->at[i].sum, 1);
}

size_t
held_several(const struct held *h, uint32_t node, uint32_t ret[HELD_SEVERAL])
{
	struct seen s = {.count = 0};
	size_t blocks = 0, pointers = 0, n;

	for (uint32_t v = 1; v < h->order.count && blocks < SAMPLE_BLOCKS &&
	     pointers < SAMPLE_POINTERS;
	     v++) {
		if (h->holders.of[v] != node)
			continue;
		blocks++;
		for (uint64_t k = h->back.begin[v];
		     k < h->back.begin[v + 1] && pointers < SAMPLE_POINTERS;
		     k++, pointers++) {
			uint32_t from = h->holders.of[h->back.from[k]];

			if (from != node && from != 0)
				count_seen(&s, from);
		}
	}
	qsort(s.at, s.count, sizeof(s.at[0]), larger);
	for (n = 0; n < s.count && n < HELD_SEVERAL; n++)
		ret[n] = s.at[n].node;
	return n;
}

bool
held_is_root(const struct held *h, uint32_t node, uint32_t *ret_root)
{
	uint32_t at = h->order.node[h->holders.nodes[node].first];

	if (node == 0 || at < h->graph.blocks)
		return false;
	*ret_root = root_number(h, at);
	return true;
}

uint32_t
held_direct(const struct held *h, uint32_t root, uint32_t block)
{
	uint32_t v = h->order.number[block];
	uint32_t r = h->order.number[h->graph.blocks + root];

	return v && r && h->idom[v] == r ? h->holders.of[v] : 0;
}

struct pile {
	uint32_t node;
	uint64_t bytes;
};

static int
higher(const void *a, const void *b)
{
	const struct pile *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

int
held_suspects(
    const struct held *h, uint64_t least, uint32_t **ret, size_t *ret_count)
{
	size_t n = h->holders.count, count = 0;
	uint64_t *gathered = calloc(n, sizeof(*gathered));
	struct pile *piles = calloc(n, sizeof(*piles));
	uint32_t *nodes = calloc(n, sizeof(*nodes));

	if (!gathered || !piles || !nodes) {
		free(gathered);
		free(piles);
		free(nodes);
		return -ENOMEM;
	}
	holders_gather(&h->holders, gathered);
	for (uint32_t i = 1; i < n; i++)
		if (gathered[i] > 0 && gathered[i] >= least)
			piles[count++] = (struct pile){i, gathered[i]};
	qsort(piles, count, sizeof(*piles), higher);
	for (size_t i = 0; i < count; i++)
		nodes[i] = piles[i].node;
	free(gathered);
	free(piles);
	*ret = nodes;
	*ret_count = count;
	return 0;
}

/* held.c - who holds the blocks of a heap, and how much each retains. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/held.h"

#include "base/std.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "analysis/holders/holders.h"

enum {
	SAMPLE_BLOCKS = 256, /* of held_several() */
	SAMPLE_POINTERS = 4096,
	KINDS_MAX = 64, /* different nodes that are counted there */
	PAIRS_MAX = 1 << 22,
};

static uint32_t root_number(const struct held *h, uint32_t node)
{
	return node - h->graph.blocks;
}

static struct holders_item ask(void *context, uint32_t number)
{
	const struct held *h = context;
	uint32_t node = h->order.node[number];

	if (node >= h->graph.blocks)
		return (struct holders_item){
		    .class = h->roots[root_number(h, node)].class, .is_root = true};
	return (struct holders_item){.class = h->class_of[h->graph.site[node]],
	    .group = h->graph.site[node],
	    .bytes = heap_graph_size(&h->graph, node)};
}

static void add(struct holders_sum *to, uint64_t bytes)
{
	to->blocks++;
	to->bytes += bytes;
}

static void sum_sites(struct held *h)
{
	for (uint32_t i = 0; i < h->graph.blocks; i++) {
		uint64_t bytes = heap_graph_size(&h->graph, i);

		add(&h->sites[h->graph.site[i]].own, bytes);
		add(h->order.number[i] ? &h->all : &h->unheld, bytes);
	}
}

/* A root without a pointer is not in the tree. */
static struct graph_root *make_roots(const struct held *h, const struct held_input *in, size_t *ret)
{
	struct graph_root *roots = calloc(in->root_count + 1, sizeof(*roots));
	const uint64_t *rows = h->graph.g.begin + h->graph.blocks;

	*ret = 0;
	for (uint32_t r = 0; roots && r < in->root_count; r++)
		if (rows[r + 1] > rows[r])
			roots[(*ret)++] = (struct graph_root){
			    .node = h->graph.blocks + r, .layer = in->roots[r].layer};
	return roots;
}

static int find_dominators(struct held *h, const struct held_input *in)
{
	struct graph_memory *m = &h->memory;
	size_t count;
	struct graph_root *roots = make_roots(h, in, &count);
	int err = roots ? 0 : -ENOMEM;

	if (err == 0)
		err = pointer_graph_walk(&h->graph.g, roots, count, m, &h->order);
	if (err == 0)
		err = pointer_graph_turn(&h->graph.g, &h->order, roots, count, m, &h->back);
	free(roots);
	heap_graph_drop_pointers(&h->graph, m);
	return err == 0 ? dominators_find(&h->order, &h->back, m, &h->idom) : err;
}

static int make_holders(struct held *h)
{
	struct holders_sum *groups = calloc(h->site_count + 1, sizeof(*groups));
	int err;

	if (!groups)
		return -ENOMEM;
	err = holders_make(
	    h->order.count, h->idom, ask, h, groups, h->site_count, &h->memory, &h->holders);
	for (uint32_t i = 0; i < h->site_count && err == 0; i++)
		h->sites[i].retained = groups[i];
	free(groups);
	return err;
}

/* ---- where no single root holds it ---------------------------------------- */

struct pair {
	uint32_t from, to;
};

struct pairs {
	struct pair *at;
	size_t count, room;
	struct dict find;
};

static bool is_pair(const void *items, uint32_t item, const void *key)
{
	return memcmp(&((const struct pair *)items)[item], key, sizeof(struct pair)) == 0;
}

static int add_pair(struct pairs *p, uint32_t from, uint32_t to)
{
	const struct pair key = {.from = from, .to = to};
	uint32_t fresh = (uint32_t)p->count, at;
	int err = room_make(&p->at, &p->room, p->count, sizeof(*p->at));

	if (err == 0)
		err = dict_find(&p->find, dict_hash(from, to, 0), is_pair, p->at, &key, fresh, &at);
	if (err == 0 && at == fresh)
		p->at[p->count++] = key;
	return err;
}

/* Which nodes point to those that several hold, and which are their children. */
static int find_pairs(const struct held *h, struct pairs *p)
{
	const uint32_t *of = h->holders.of;
	int err = 0;

	for (uint32_t i = 1; i < h->holders.count && err == 0; i++)
		if (h->holders.nodes[i].parent)
			err = add_pair(p, h->holders.nodes[i].parent, i);
	for (uint32_t v = 1; v < h->order.count && err == 0; v++) {
		if (h->idom[v] != 0 || h->order.node[v] >= h->graph.blocks)
			continue;
		for (uint64_t k = h->back.begin[v]; k < h->back.begin[v + 1] && err == 0; k++) {
			uint32_t from = of[h->back.from[k]];

			if (from && from != of[v] && p->count < PAIRS_MAX)
				err = add_pair(p, from, of[v]);
		}
	}
	return err;
}

BY(by_from, struct pair, UP(from) ?: UP(to))

/* From all roots at once, so that each node is found by its shortest way. */
static int find_nearest(struct held *h)
{
	const size_t n = h->holders.count;
	uint32_t *queue = calloc(n, sizeof(*queue)), root;
	size_t *begin = calloc(n + 1, sizeof(*begin)), end = 0;
	bool *seen = calloc(n, sizeof(*seen));
	struct pairs p = {0};
	int err = queue && begin && seen ? 0 : -ENOMEM;

	h->nearest = calloc(n, sizeof(*h->nearest));
	if (!h->nearest)
		err = -ENOMEM;
	if (err == 0)
		err = find_pairs(h, &p);
	if (err == 0 && p.count)
		qsort(p.at, p.count, sizeof(*p.at), by_from);
	for (size_t i = 0; i < p.count && err == 0; i++)
		begin[p.at[i].from + 1]++;
	for (size_t i = 0; i < n && err == 0; i++)
		begin[i + 1] += begin[i];
	for (int named = 1; named >= 0 && err == 0; named--)
		for (uint32_t i = 1; i < n; i++)
			if (held_is_root(h, i, &root) && h->roots[root].is_named == named) {
				seen[i] = true;
				queue[end++] = i;
			}
	for (size_t at = 0; at < end && err == 0; at++)
		for (size_t k = begin[queue[at]]; k < begin[queue[at] + 1]; k++) {
			uint32_t to = p.at[k].to;

			if (seen[to])
				continue;
			seen[to] = true;
			queue[end++] = to;
			if (h->holders.nodes[to].parent == 0)
				h->nearest[to] = queue[at];
		}
	free(p.at);
	dict_release(&p.find);
	free(queue);
	free(begin);
	free(seen);
	return err;
}

/* The new blocks of a look, as nodes; for free(). */
static int add_grown(const struct grown *g, const struct heap *h, struct heap_graph_input *to,
    struct heap_graph_block **ret)
{
	size_t n = 0;

	*ret = calloc(g->block_count + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (size_t i = 0; i < g->block_count; i++) {
		const struct grown_block *b = &g->blocks[i];

		/* of one that is being resized nothing new is known */
		if (b->site == GROWN_NO_SITE && b->number < heap_count(h))
			continue;
		(*ret)[n++] =
		    (struct heap_graph_block){.node = b->number, .site = b->site, .size = b->size};
	}
	to->more = *ret;
	to->more_count = n;
	to->new_nodes = g->next > heap_count(h) ? g->next - (uint32_t)heap_count(h) : 0;
	to->edges = g->edges;
	to->edge_count = g->edge_count;
	return 0;
}

int held_new(const struct held_input *in, struct held **ret, uint64_t *ret_needed)
{
	struct heap_graph_block *more = NULL;
	struct heap_graph_input graph = {.pointers = in->pointers,
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
	if (err == 0 && in->grown)
		err = add_grown(in->grown, in->heap, &graph, &more);
	if (err < 0) {
		heap_free(in->heap);
		held_free(h);
		return err;
	}
	memcpy(h->roots, in->roots, in->root_count * sizeof(*h->roots));
	err = heap_graph_take(in->heap, &graph, &h->memory, &h->graph);
	free(more);
	if (err == 0)
		err = find_dominators(h, in);
	if (err == 0)
		err = make_holders(h);
	if (err == 0)
		err = find_nearest(h);
	if (err < 0) {
		*ret_needed = h->memory.refused;
		held_free(h);
		return err;
	}
	sum_sites(h);
	*ret = h;
	return 0;
}

void held_free(struct held *h)
{
	if (!h)
		return;
	holders_release(&h->holders, &h->memory);
	pointer_graph_give(&h->memory, h->idom, h->order.count, sizeof(*h->idom));
	pointer_graph_back_release(&h->back, &h->memory);
	pointer_graph_order_release(&h->order, &h->memory);
	heap_graph_release(&h->graph, &h->memory);
	free(h->sites);
	free(h->roots);
	free(h->nearest);
	free(h);
}

/* ---- answers -------------------------------------------------------------- */

BY(larger, struct held_way, DOWN(sum.bytes) ?: DOWN(sum.blocks) ?: UP(node))

int held_ways(const struct held *h, uint32_t site, struct held_way **ret, size_t *ret_count,
    struct holders_sum *ret_unheld)
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
			add(&ways[h->holders.of[h->order.number[i]]].sum, bytes);
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

/* Blocks of one site below one node. */
struct share {
	uint32_t site;
	struct held_way way;
};

static bool is_share(const void *items, uint32_t item, const void *key)
{
	const struct share *a = (const struct share *)items + item, *b = key;

	return a->site == b->site && a->way.node == b->way.node;
}

int held_best_ways(const struct held *h, struct held_way **ret)
{
	struct held_way *best = calloc(h->site_count + 1, sizeof(*best));
	struct share *shares = NULL;
	size_t count = 0, room = 0;
	struct dict find = {0};
	int err = best ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < h->graph.blocks && err == 0; i++) {
		uint32_t v = h->order.number[i], at;
		struct share key = {.site = h->graph.site[i]};

		if (!v)
			continue;
		key.way.node = h->holders.of[v];
		err = room_make(&shares, &room, count, sizeof(*shares));
		if (err == 0)
			err = dict_find(&find, dict_hash(key.site, key.way.node, 0), is_share,
			    shares, &key, (uint32_t)count, &at);
		if (err < 0)
			break;
		if (at == count)
			shares[count++] = key;
		add(&shares[at].way.sum, heap_graph_size(&h->graph, i));
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		struct held_way *x = &best[shares[i].site];

		if (x->sum.blocks == 0 || larger(x, &shares[i].way) > 0)
			*x = shares[i].way;
	}
	free(shares);
	dict_release(&find);
	if (err < 0) {
		free(best);
		return err;
	}
	*ret = best;
	return 0;
}

size_t held_way(const struct held *h, uint32_t node, uint32_t ret[HELD_WAY_MAX], size_t *ret_shared)
{
	uint32_t way[HOLDERS_DEPTH_MAX];
	size_t count = 0;

	*ret_shared = 0;
	/* from behind; each step leads nearer to a root */
	while (node != 0) {
		size_t n = holders_way(&h->holders, node, way);

		if (n == 0 || count + n > HELD_WAY_MAX)
			break;
		memmove(ret + n, ret, count * sizeof(*ret));
		memcpy(ret, way, n * sizeof(*ret));
		*ret_shared += count > 0 ? n : 0;
		count += n;
		node = h->nearest[way[0]];
	}
	return count;
}

/* Nodes, and how often each was seen. */
struct seen {
	struct held_way at[KINDS_MAX];
	size_t count;
};

/* Near a root first, because a short way says more than a frequent one. */
static int nearer(const void *a, const void *b, void *context)
{
	const struct held_way *x = a, *y = b;
	const struct held *h = context;
	uint32_t p = h->holders.nodes[x->node].depth;
	uint32_t q = h->holders.nodes[y->node].depth;

	return p != q ? (p > q) - (p < q) : larger(a, b);
}

static void count_seen(struct seen *s, uint32_t node)
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

size_t held_several(const struct held *h, uint32_t node, uint32_t ret[HELD_SEVERAL])
{
	struct seen s = {.count = 0};
	size_t blocks = 0, pointers = 0, n;

	for (uint32_t v = 1;
	     v < h->order.count && blocks < SAMPLE_BLOCKS && pointers < SAMPLE_POINTERS; v++) {
		if (h->holders.of[v] != node)
			continue;
		blocks++;
		for (uint64_t k = h->back.begin[v];
		     k < h->back.begin[v + 1] && pointers < SAMPLE_POINTERS; k++, pointers++) {
			uint32_t from = h->holders.of[h->back.from[k]];

			if (from != node && from != 0 && from != h->nearest[node])
				count_seen(&s, from);
		}
	}
	qsort_r(s.at, s.count, sizeof(s.at[0]), nearer, (void *)(uintptr_t)h);
	for (n = 0; n < s.count && n < HELD_SEVERAL; n++)
		ret[n] = s.at[n].node;
	return n;
}

bool held_is_root(const struct held *h, uint32_t node, uint32_t *ret_root)
{
	uint32_t at = h->order.node[h->holders.nodes[node].first];

	if (node == 0 || at < h->graph.blocks)
		return false;
	*ret_root = root_number(h, at);
	return true;
}

uint32_t held_direct(const struct held *h, uint32_t root, uint32_t block, bool *ret_alone)
{
	uint32_t v = h->order.number[block];
	uint32_t r = h->order.number[h->graph.blocks + root];

	if (!v || !r || (h->idom[v] != r && h->idom[v] != 0))
		return 0;
	*ret_alone = h->idom[v] == r;
	return h->holders.of[v];
}

struct pile {
	uint32_t node;
	uint64_t bytes;
};

BY(higher, struct pile, DOWN(bytes) ?: UP(node))

int held_suspects(const struct held *h, uint64_t least, uint32_t **ret, size_t *ret_count)
{
	size_t n = h->holders.count, count = 0;
	uint64_t *gathered = calloc(n, sizeof(*gathered));
	struct pile *piles = calloc(n, sizeof(*piles));
	uint32_t *nodes = calloc(n, sizeof(*nodes));

	if (!gathered || !piles || !nodes || holders_gather(&h->holders, gathered) < 0) {
		free(gathered);
		free(piles);
		free(nodes);
		return -ENOMEM;
	}
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

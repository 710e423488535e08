/* test_dominators.c - graph, dominators, holders: against removing nodes one by one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "analysis/holders/holders.h"
#include "analysis/holders/heap_graph.h"

enum {
	NODES_MAX = 64,
	EDGES_MAX = 400,
	ROOTS_MAX = 6,
	ROUNDS = 3000,
	CLASSES = 5,
	GROUPS = 7,
};

static uint64_t seed = 88172645463325252u;

static uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed % below);
}

/* A graph with room of its own. */
struct drawn {
	struct graph g;
	uint64_t begin[NODES_MAX + 1];
	uint32_t to[EDGES_MAX];
	struct graph_root roots[ROOTS_MAX];
	size_t root_count;
	uint32_t layer_of[NODES_MAX]; /* the first that reaches it */
	uint32_t class[NODES_MAX], group[NODES_MAX];
	uint64_t bytes[NODES_MAX];
};

static struct graph_memory plenty = {.max_bytes = UINT64_MAX};

static void draw(struct drawn *d)
{
	uint32_t nodes = 1 + any(NODES_MAX - 1), edges = 0;
	/* a few are dense, most are nearly trees */
	uint32_t most = 1 + any(5);

	memset(d, 0, sizeof(*d));
	d->g = (struct graph){.begin = d->begin, .to = d->to, .nodes = nodes};
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t n = any(most + 1);

		d->begin[i] = edges;
		for (uint32_t k = 0; k < n && edges < EDGES_MAX; k++)
			d->to[edges++] = any(nodes);
		d->class[i] = any(CLASSES);
		d->group[i] = any(GROUPS);
		d->bytes[i] = 1 + any(1000);
	}
	d->begin[nodes] = edges;
	d->root_count = 1 + any(ROOTS_MAX);
	for (size_t i = 0; i < d->root_count; i++)
		d->roots[i] = (struct graph_root){.node = any(nodes), .layer = any(3)};
}

/*
 * Which nodes can be reached without those of `gone`, with the pointers that
 * count: none from a later layer into an earlier one.
 */
static void reach(const struct drawn *d, uint64_t gone, bool with_layers, uint32_t last_layer,
    bool ret[NODES_MAX])
{
	uint32_t stack[NODES_MAX + ROOTS_MAX];
	size_t n = 0;

	memset(ret, 0, NODES_MAX);
	for (size_t i = 0; i < d->root_count; i++) {
		uint32_t at = d->roots[i].node;

		if (d->roots[i].layer > last_layer || ret[at] || gone >> at & 1)
			continue;
		ret[at] = true;
		stack[n++] = at;
	}
	while (n > 0) {
		uint32_t at = stack[--n];

		for (uint64_t k = d->begin[at]; k < d->begin[at + 1]; k++) {
			uint32_t to = d->to[k];

			if (ret[to] || gone >> to & 1 ||
			    (with_layers && d->layer_of[at] > d->layer_of[to]))
				continue;
			ret[to] = true;
			stack[n++] = to;
		}
	}
}

static void find_layers(struct drawn *d)
{
	bool seen[NODES_MAX];

	memset(d->layer_of, 0xff, sizeof(d->layer_of));
	for (uint32_t layer = GRAPH_LAYERS; layer-- > 0;) {
		reach(d, 0, false, layer, seen);
		for (uint32_t i = 0; i < d->g.nodes; i++)
			if (seen[i])
				d->layer_of[i] = layer;
	}
}

/* The immediate dominator as a node, GRAPH_NONE: only what is above all. */
static uint32_t slow_idom(const struct drawn *d, uint32_t v)
{
	bool seen[NODES_MAX];
	uint64_t all = 0;

	for (uint32_t u = 0; u < d->g.nodes; u++) {
		reach(d, UINT64_C(1) << u, true, GRAPH_LAYERS, seen);
		if (u != v && !seen[v])
			all |= UINT64_C(1) << u;
	}
	/* the one that all other dominators dominate */
	for (uint32_t u = 0; u < d->g.nodes; u++) {
		bool is_last = all >> u & 1;

		reach(d, UINT64_C(1) << u, true, GRAPH_LAYERS, seen);
		for (uint32_t w = 0; w < d->g.nodes && is_last; w++)
			if (w != u && all >> w & 1 && !seen[w])
				is_last = false;
		if (is_last)
			return u;
	}
	return GRAPH_NONE;
}

struct found {
	struct graph_order o;
	struct graph_back b;
	uint32_t *idom;
};

static int find(const struct drawn *d, struct graph_memory *m, struct found *f)
{
	int err;

	memset(f, 0, sizeof(*f));
	err = pointer_graph_walk(&d->g, d->roots, d->root_count, m, &f->o);
	if (err == 0)
		err = pointer_graph_turn(&d->g, &f->o, d->roots, d->root_count, m, &f->b);
	if (err == 0)
		err = dominators_find(&f->o, &f->b, m, &f->idom);
	return err;
}

static void drop(struct found *f, struct graph_memory *m)
{
	pointer_graph_give(m, f->idom, f->o.count, sizeof(*f->idom));
	pointer_graph_back_release(&f->b, m);
	pointer_graph_order_release(&f->o, m);
}

TEST(dominators_are_those_that_removing_a_node_shows)
{
	struct drawn d;
	struct found f;

	for (int round = 0; round < ROUNDS; round++) {
		bool seen[NODES_MAX];

		draw(&d);
		find_layers(&d);
		reach(&d, 0, true, GRAPH_LAYERS, seen);
		assert_int_equal(find(&d, &plenty, &f), 0);
		for (uint32_t i = 0; i < d.g.nodes; i++) {
			uint32_t v = f.o.number[i], slow;

			assert_int_equal(v != 0, seen[i]);
			if (v == 0)
				continue;
			assert_int_equal(pointer_graph_layer(&f.o, v), d.layer_of[i]);
			assert_true(f.idom[v] < v);
			slow = slow_idom(&d, i);
			assert_int_equal(f.idom[v] ? f.o.node[f.idom[v]] : GRAPH_NONE, slow);
		}
		drop(&f, &plenty);
		assert_int_equal(plenty.bytes, 0);
	}
}

struct asked {
	const struct drawn *d;
	const struct graph_order *o;
};

static struct holders_item ask(void *context, uint32_t number)
{
	const struct asked *a = context;
	uint32_t node = a->o->node[number];

	return (struct holders_item){
	    .class = a->d->class[node], .group = a->d->group[node], .bytes = a->d->bytes[node]};
}

/* What cannot be reached without these nodes. */
static struct holders_sum slow_retained(const struct drawn *d, uint64_t gone)
{
	struct holders_sum sum = {0};
	bool before[NODES_MAX], after[NODES_MAX];

	reach(d, 0, true, GRAPH_LAYERS, before);
	reach(d, gone, true, GRAPH_LAYERS, after);
	for (uint32_t i = 0; i < d->g.nodes; i++) {
		if (!before[i] || after[i])
			continue;
		sum.blocks++;
		sum.bytes += d->bytes[i];
	}
	return sum;
}

/*
 * What several nodes retain together may be more than what each of them does,
 * so the slow way goes node by node, too.
 */
static struct holders_sum slow_union(const struct drawn *d, uint64_t members)
{
	struct holders_sum sum = {0};
	uint64_t all = 0;

	for (uint32_t i = 0; i < d->g.nodes; i++) {
		bool before[NODES_MAX], after[NODES_MAX];

		if (!(members >> i & 1))
			continue;
		reach(d, 0, true, GRAPH_LAYERS, before);
		reach(d, UINT64_C(1) << i, true, GRAPH_LAYERS, after);
		for (uint32_t k = 0; k < d->g.nodes; k++)
			if (before[k] && !after[k])
				all |= UINT64_C(1) << k;
	}
	for (uint32_t k = 0; k < d->g.nodes; k++) {
		sum.blocks += all >> k & 1;
		sum.bytes += all >> k & 1 ? d->bytes[k] : 0;
	}
	return sum;
}

TEST(retained_bytes_are_those_that_removing_nodes_shows)
{
	struct drawn d;
	struct found f;

	for (int round = 0; round < ROUNDS / 4; round++) {
		struct holders_sum groups[GROUPS] = {{0}}, slow, own = {0};
		struct asked a = {.d = &d, .o = &f.o};
		struct holders h;

		draw(&d);
		find_layers(&d);
		assert_int_equal(find(&d, &plenty, &f), 0);
		assert_int_equal(
		    holders_make(f.o.count, f.idom, ask, &a, groups, GROUPS, &plenty, &h), 0);
		for (uint32_t g = 0; g < GROUPS; g++) {
			uint64_t members = 0;

			for (uint32_t i = 0; i < d.g.nodes; i++)
				if (d.group[i] == g && f.o.number[i])
					members |= UINT64_C(1) << i;
			slow = slow_union(&d, members);
			assert_int_equal(groups[g].blocks, slow.blocks);
			assert_int_equal(groups[g].bytes, slow.bytes);
		}
		for (uint32_t n = 1; n < h.count; n++) {
			uint64_t members = 0;

			for (uint32_t v = 1; v < f.o.count; v++)
				if (h.of[v] == n)
					members |= UINT64_C(1) << f.o.node[v];
			slow = slow_union(&d, members);
			assert_int_equal(h.nodes[n].retained.bytes, slow.bytes);
			if (h.nodes[n].own.blocks == 1)
				assert_int_equal(slow.bytes, slow_retained(&d, members).bytes);
			own.blocks += h.nodes[n].own.blocks;
			assert_true(h.nodes[n].parent < n);
		}
		assert_int_equal(own.blocks, f.o.count - 1);
		assert_int_equal(h.cut, 0);
		holders_release(&h, &plenty);
		drop(&f, &plenty);
		assert_int_equal(plenty.bytes, 0);
	}
}

TEST(one_byte_too_few_is_an_error_and_not_a_wrong_answer)
{
	struct graph_memory m = {.max_bytes = UINT64_MAX};
	struct drawn d;
	struct found f;
	uint64_t most;

	do {
		draw(&d);
	} while (d.g.nodes < 20);
	assert_int_equal(find(&d, &m, &f), 0);
	drop(&f, &m);
	most = m.most;
	for (m.max_bytes = 0; m.max_bytes < most; m.max_bytes++) {
		assert_int_equal(find(&d, &m, &f), -E2BIG);
		assert_true(m.refused > m.max_bytes && m.refused <= most);
		drop(&f, &m);
		assert_int_equal(m.bytes, 0);
	}
	assert_int_equal(find(&d, &m, &f), 0);
	drop(&f, &m);
}

/* A list, a ladder of pointers forth and back, and a star. */
TEST(long_chains_take_neither_recursion_nor_quadratic_time)
{
	enum { N = 1000000 };
	struct graph_memory m = {.max_bytes = UINT64_MAX};
	uint64_t *begin = calloc(N + 1, sizeof(*begin)), edges = 0;
	uint32_t *to = calloc(3 * (size_t)N, sizeof(*to));
	const struct graph_root roots[] = {{.node = 0}};
	struct graph g = {.begin = begin, .to = to, .nodes = N};
	struct graph_order o;
	struct graph_back b;
	uint32_t *idom;

	assert_non_null(begin);
	assert_non_null(to);
	for (uint32_t i = 0; i < N; i++) {
		begin[i] = edges;
		if (i + 1 < N)
			to[edges++] = i + 1;
		if (i > 0)
			to[edges++] = i - 1;
		/* all of it points back to the middle, as to an owner */
		to[edges++] = N / 2;
	}
	begin[N] = edges;
	assert_int_equal(pointer_graph_walk(&g, roots, 1, &m, &o), 0);
	assert_int_equal(pointer_graph_turn(&g, &o, roots, 1, &m, &b), 0);
	assert_int_equal(dominators_find(&o, &b, &m, &idom), 0);
	assert_int_equal(o.count, N + 1);
	for (uint32_t i = 1; i < N; i++) {
		uint32_t at = idom[o.number[i]];
		/* up to the middle there are two ways, and beyond it one */
		uint32_t want = i <= N / 2 ? 0 : i - 1;

		assert_int_equal(o.node[at], want);
	}
	pointer_graph_give(&m, idom, o.count, sizeof(*idom));
	pointer_graph_back_release(&b, &m);
	pointer_graph_order_release(&o, &m);
	free(begin);
	free(to);
}

/* Numbers 1 and 2 are roots; the other arguments are dominator and class. */
struct few {
	uint32_t idom[32], class[32];
	uint32_t count;
};

static struct holders_item ask_few(void *context, uint32_t number)
{
	const struct few *x = context;

	return (struct holders_item){.class = x->class[number],
	    .is_root = x->idom[number] == 0,
	    .bytes = x->idom[number] == 0 ? 0 : 10};
}

static uint32_t put(struct few *x, uint32_t idom, uint32_t class)
{
	x->idom[x->count] = idom;
	x->class[x->count] = class;
	return x->count++;
}

TEST(a_way_leads_to_where_things_pile_up)
{
	struct few x = {.count = 1};
	struct holders_sum group = {0};
	uint32_t way[HOLDERS_DEPTH_MAX], at, table;
	uint64_t gathered[8];
	struct holders h;
	size_t n;

	at = put(&x, put(&x, put(&x, 0, 0), 1), 2); /* root, dict, table */
	table = at;
	for (int i = 0; i < 6; i++)
		(void)put(&x, put(&x, table, 3), 4); /* entry, value */
	assert_int_equal(holders_make(x.count, x.idom, ask_few, &x, &group, 1, &plenty, &h), 0);
	n = holders_way(&h, h.of[x.count - 1], way);
	assert_int_equal(n, 5);
	assert_int_equal(h.nodes[way[0]].class, 0);
	assert_int_equal(h.nodes[way[4]].class, 4);
	assert_int_equal(h.nodes[way[4]].own.blocks, 6);
	assert_int_equal(holders_pile(&h, way, n), 2);
	assert_int_equal(h.nodes[way[2]].retained.bytes, 130);
	assert_int_equal(h.nodes[way[0]].retained.blocks, 14);
	assert_int_equal(holders_gather(&h, gathered), 0);
	assert_int_equal(gathered[way[0]], 0);
	assert_int_equal(gathered[way[2]], 130);
	assert_int_equal(gathered[way[3]] + gathered[way[4]], 0);
	holders_release(&h, &plenty);
}

TEST(items_of_a_list_are_one_node)
{
	struct few x = {.count = 1};
	struct holders_sum group = {0};
	uint32_t way[HOLDERS_DEPTH_MAX], at;
	struct holders h;

	at = put(&x, 0, 0);
	for (int i = 0; i < 5; i++)
		at = put(&x, put(&x, at, 1), 2); /* of two kinds, in turns */
	at = put(&x, 0, 5);
	for (int i = 0; i < 7; i++)
		at = put(&x, at, 1);
	assert_int_equal(holders_make(x.count, x.idom, ask_few, &x, &group, 1, &plenty, &h), 0);
	assert_int_equal(h.count, 6);
	assert_int_equal(holders_way(&h, h.of[at], way), 2);
	assert_int_equal(h.nodes[way[1]].own.blocks, 7);
	assert_int_equal(h.nodes[way[1]].retained.bytes, 70);
	assert_int_equal(holders_pile(&h, way, 2), 0);
	assert_int_equal(holders_way(&h, h.of[3], way), 3);
	assert_int_equal(h.nodes[way[2]].own.blocks, 5);
	assert_int_equal(h.nodes[way[1]].retained.bytes, 100);
	assert_int_equal(h.nodes[way[2]].retained.bytes, 90);
	holders_release(&h, &plenty);
}

/* A way of ever new classes is cut, and no block is lost by that. */
static struct holders_item ask_chain(void *context, uint32_t number)
{
	(void)context;
	return (struct holders_item){
	    .class = number, .is_root = number == 1, .bytes = number == 1 ? 0 : 1};
}

TEST(ways_have_a_limit)
{
	enum { N = 200 };
	uint32_t idom[N + 1], way[HOLDERS_DEPTH_MAX];
	struct holders_sum group = {0};
	uint64_t blocks = 0;
	struct holders h;

	for (uint32_t v = 0; v <= N; v++)
		idom[v] = v ? v - 1 : 0;
	assert_int_equal(holders_make(N + 1, idom, ask_chain, NULL, &group, 1, &plenty, &h), 0);
	for (uint32_t i = 1; i < h.count; i++)
		blocks += h.nodes[i].own.blocks;
	assert_int_equal(blocks, N);
	assert_int_equal(h.count, HOLDERS_DEPTH_MAX + 1);
	assert_int_equal(h.cut, N - HOLDERS_DEPTH_MAX);
	assert_int_equal(h.nodes[1].retained.bytes, N - 1);
	assert_int_equal(holders_way(&h, h.of[N], way), HOLDERS_DEPTH_MAX);
	assert_int_equal(group.bytes, N - 1);
	holders_release(&h, &plenty);
}

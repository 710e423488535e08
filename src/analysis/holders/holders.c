/* holders.c - a tree of dominators, with alike blocks as one: who holds how much. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/holders/holders.h"

#include "base/std.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"

enum { FAN_OUT = 4 };

/* A class below a node, and the node that its blocks are in. */
struct step {
	uint32_t parent, class, node;
};

struct making {
	struct holders *h;
	struct step *steps;
	size_t count, room;
	struct dict find;
};

static bool is_step(const void *items, uint32_t item, const void *key)
{
	const struct step *s = &((const struct step *)items)[item];
	const struct step *k = key;

	return s->parent == k->parent && s->class == k->class;
}

/* The node above `parent` that blocks of this class join; 0: none. */
static uint32_t joined(const struct holders *h, uint32_t parent, uint32_t class)
{
	uint32_t nearest = 0, seen = 0, up = parent;

	for (unsigned n = 0; up != 0; n++, up = h->nodes[up].parent) {
		if (h->nodes[up].class != class)
			continue;
		if (n < 2)
			return up;
		nearest = nearest ? nearest : up;
		seen++;
	}
	return seen >= 2 ? nearest : 0;
}

static int add_node(struct making *k, uint32_t parent, uint32_t class, uint32_t *ret)
{
	struct holders *h = k->h;
	int err;

	*ret = joined(h, parent, class);
	if (*ret)
		return 0;
	*ret = parent;
	if (h->count == HOLDERS_NODES_MAX || h->nodes[parent].depth == HOLDERS_DEPTH_MAX)
		return 0;
	err = room_make(&h->nodes, &h->room, h->count, sizeof(*h->nodes));
	if (err < 0)
		return err;
	*ret = (uint32_t)h->count++;
	h->nodes[*ret] = (struct holders_node){
	    .parent = parent, .class = class, .depth = h->nodes[parent].depth + 1};
	return 0;
}

/* The node of a class below a node; it is made if there is none. */
static int node_of(struct making *k, uint32_t parent, uint32_t class, uint32_t *ret)
{
	const struct step key = {.parent = parent, .class = class};
	uint32_t at, fresh = (uint32_t)k->count;
	int err = room_make(&k->steps, &k->room, k->count, sizeof(*k->steps));

	if (err == 0)
		err = dict_find(
		    &k->find, dict_hash(parent, class, 0), is_step, k->steps, &key, fresh, &at);
	if (err < 0)
		return err;
	if (at == fresh) {
		k->steps[k->count++] = key;
		err = add_node(k, parent, class, &k->steps[at].node);
	}
	*ret = k->steps[at].node;
	return err;
}

/* A dominator has a lower number than what it dominates. */
static int make_nodes(
    struct making *k, uint32_t count, const uint32_t *idom, holders_ask *ask, void *context)
{
	struct holders *h = k->h;
	int err = 0;

	for (uint32_t v = 1; v < count && err == 0; v++) {
		struct holders_item item = ask(context, v);
		uint32_t parent = h->of[idom[v]];
		struct holders_node *n;

		err = node_of(k, parent, item.class, &h->of[v]);
		if (err < 0)
			break;
		n = &h->nodes[h->of[v]];
		h->cut += h->of[v] == parent && n->class != item.class;
		if (n->own.blocks++ == 0)
			n->first = v;
		n->own.bytes += item.bytes;
	}
	return err;
}

/* ---- what each retains ---------------------------------------------------- */

/*
 * One walk over the tree. A node counts from the moment its first member is
 * entered until that one is left, because all members below are a part of it.
 */
struct open {
	uint32_t depth; /* members that are entered and not left */
	struct holders_sum since;
};

struct totals {
	struct open *open;
	struct holders_sum *sums;
	size_t stride; /* bytes from one sum to the next */
};

static void enter(struct totals *t, uint32_t i, const struct holders_sum *now)
{
	if (t->open[i].depth++ == 0)
		t->open[i].since = *now;
}

static void leave(struct totals *t, uint32_t i, const struct holders_sum *now)
{
	struct holders_sum *to = (struct holders_sum *)((char *)t->sums + i * t->stride);

	if (--t->open[i].depth > 0)
		return;
	to->blocks += now->blocks - t->open[i].since.blocks;
	to->bytes += now->bytes - t->open[i].since.bytes;
}

struct tree {
	const uint32_t *idom;
	uint32_t *child, *sibling; /* 0: none */
};

static void walk_tree(const struct tree *t, const uint32_t *of, holders_ask *ask, void *context,
    struct totals *nodes, struct totals *groups)
{
	struct holders_sum now = {0};
	uint32_t v = t->child[0];

	while (v != 0) {
		struct holders_item item = ask(context, v);

		enter(nodes, of[v], &now);
		if (!item.is_root) {
			enter(groups, item.group, &now);
			now.blocks++;
			now.bytes += item.bytes;
		}
		if (t->child[v]) {
			v = t->child[v];
			continue;
		}
		/* leaves v, and all whose last child is left by that */
		for (;;) {
			item = ask(context, v);
			leave(nodes, of[v], &now);
			if (!item.is_root)
				leave(groups, item.group, &now);
			if (t->sibling[v]) {
				v = t->sibling[v];
				break;
			}
			v = t->idom[v];
			if (v == 0)
				break;
		}
	}
}

static int sum_up(struct holders *h, const uint32_t *idom, holders_ask *ask, void *context,
    struct holders_sum *groups, size_t group_count, struct graph_memory *m)
{
	const uint64_t n = h->numbers;
	struct tree t = {.idom = idom};
	struct totals by_node = {.sums = &h->nodes[0].retained, .stride = sizeof(*h->nodes)};
	struct totals by_group = {.sums = groups, .stride = sizeof(*groups)};
	int err;

	t.child = pointer_graph_take(m, n, sizeof(*t.child), &err);
	if (err == 0)
		t.sibling = pointer_graph_take(m, n, sizeof(*t.sibling), &err);
	if (err == 0)
		by_node.open = pointer_graph_take(m, h->count, sizeof(*by_node.open), &err);
	if (err == 0)
		by_group.open = pointer_graph_take(m, group_count, sizeof(*by_group.open), &err);
	if (err == 0) {
		for (uint32_t v = h->numbers - 1; v > 0; v--) {
			t.sibling[v] = t.child[idom[v]];
			t.child[idom[v]] = v;
		}
		walk_tree(&t, h->of, ask, context, &by_node, &by_group);
	}
	pointer_graph_give(m, t.child, n, sizeof(*t.child));
	pointer_graph_give(m, t.sibling, n, sizeof(*t.sibling));
	pointer_graph_give(m, by_node.open, h->count, sizeof(*by_node.open));
	pointer_graph_give(m, by_group.open, group_count, sizeof(*by_group.open));
	return err;
}

int holders_make(uint32_t count, const uint32_t *idom, holders_ask *ask, void *context,
    struct holders_sum *groups, size_t group_count, struct graph_memory *m, struct holders *ret)
{
	struct holders h = {.numbers = count};
	struct making k = {.h = &h};
	int err;

	h.of = pointer_graph_take(m, count, sizeof(*h.of), &err);
	if (err == 0)
		err = room_make(&h.nodes, &h.room, h.count, sizeof(*h.nodes));
	if (err == 0) {
		h.nodes[h.count++] = (struct holders_node){.class = HOLDERS_CLASSES_MAX};
		err = make_nodes(&k, count, idom, ask, context);
	}
	free(k.steps);
	dict_release(&k.find);
	if (err == 0)
		err = sum_up(&h, idom, ask, context, groups, group_count, m);
	if (err < 0) {
		holders_release(&h, m);
		return err;
	}
	*ret = h;
	return 0;
}

void holders_release(struct holders *h, struct graph_memory *m)
{
	free(h->nodes);
	pointer_graph_give(m, h->of, h->numbers, sizeof(*h->of));
	*h = (struct holders){0};
}

/* ---- ways ----------------------------------------------------------------- */

size_t holders_way(const struct holders *h, uint32_t node, uint32_t ret[HOLDERS_DEPTH_MAX])
{
	size_t count = h->nodes[node].depth;

	for (size_t i = count; i > 0; i--) {
		ret[i - 1] = node;
		node = h->nodes[node].parent;
	}
	return count;
}

size_t holders_pile(const struct holders *h, const uint32_t *way, size_t count)
{
	size_t found = count ? count - 1 : 0;
	double most = 2;

	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t few = h->nodes[way[i]].own.blocks;
		uint64_t many = h->nodes[way[i + 1]].own.blocks;
		double growth = few ? (double)many / (double)few : 0;

		if (growth >= most) {
			most = growth;
			found = i;
		}
	}
	return found;
}

static bool fans_out(const struct holders *h, uint32_t node)
{
	const struct holders_node *n = &h->nodes[node];

	return n->parent && n->own.blocks / FAN_OUT >= h->nodes[n->parent].own.blocks;
}

/* Many blocks that no single root holds: they are a pile themselves. */
static bool is_own_pile(const struct holders_node *n)
{
	return n->parent == 0 && n->own.bytes > 0 && n->own.blocks >= FAN_OUT;
}

int holders_gather(const struct holders *h, uint64_t *ret)
{
	/* at which node the bytes of each one count; and is it in a pile? */
	uint32_t *at = calloc(h->count, sizeof(*at));
	bool *piled = calloc(h->count, sizeof(*piled));
	bool is_done = at && piled;

	for (uint32_t i = 0; is_done && i < h->count; i++) {
		const struct holders_node *n = &h->nodes[i];
		const struct holders_node *up = &h->nodes[n->parent];

		/* fewer than there are holders: something new begins here */
		bool goes_on = piled[n->parent] && n->own.blocks >= up->own.blocks / FAN_OUT;

		at[i] = i;
		if (i > 0 && fans_out(h, i))
			at[i] = goes_on ? at[n->parent] : n->parent;
		else if (i > 0 && goes_on)
			at[i] = at[n->parent];
		piled[i] = at[i] != i || is_own_pile(n);
		ret[i] = 0;
		ret[at[i]] += n->own.bytes;
	}
	free(at);
	free(piled);
	return is_done ? 0 : -ENOMEM;
}

/* tree.c - stacks folded into a tree: callers below callees. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "reader/index.h"

struct node {
	struct tree_node public;
	uint32_t parent;
};

struct tree {
	struct node *nodes;
	size_t count, room;
	struct index index;
};

struct place {
	uint32_t parent, label;
};

int
tree_new(struct tree **ret)
{
	struct tree *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->room = 256;
	t->count = 1;
	t->nodes = calloc(t->room, sizeof(*t->nodes));
	if (!t->nodes) {
		free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void
tree_free(struct tree *t)
{
	if (!t)
		return;
	index_release(&t->index);
	free(t->nodes);
	free(t);
}

static bool
same_place(const void *items, uint32_t item, const void *key)
{
	const struct node *n = (const struct node *)items + item;
	const struct place *p = key;

	return n->parent == p->parent && n->public.label == p->label;
}

static int
child_of(struct tree *t, uint32_t parent, uint32_t label, uint32_t *ret)
{
	struct place key = {.parent = parent, .label = label};
	int err;

	if (t->count == t->room) {
		struct node *bigger =
		    reallocarray(t->nodes, t->room * 2, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		t->nodes = bigger;
		t->room *= 2;
	}
	err = index_find(&t->index, index_hash(parent, label, 9), same_place,
	    t->nodes, &key, (uint32_t)t->count, ret);
	if (err < 0)
		return err;
	if (*ret == t->count) {
		t->nodes[t->count++] = (struct node){
		    .public = {.label = label,
		        .next = t->nodes[parent].public.first_child},
		    .parent = parent};
		t->nodes[parent].public.first_child = *ret;
	}
	return 0;
}

static void
add_weight(struct tree_node *n, uint64_t weight, uint64_t blocks)
{
	if (__builtin_add_overflow(n->weight, weight, &n->weight))
		n->weight = UINT64_MAX;
	if (__builtin_add_overflow(n->blocks, blocks, &n->blocks))
		n->blocks = UINT64_MAX;
	n->sites++;
}

int
tree_add(struct tree *t, const uint32_t *labels, size_t count, uint64_t weight,
    uint64_t blocks)
{
	uint32_t at = 0;
	int err;

	add_weight(&t->nodes[0].public, weight, blocks);
	for (size_t i = 0; i < count; i++) {
		err = child_of(t, at, labels[i], &at);
		if (err < 0)
			return err;
		add_weight(&t->nodes[at].public, weight, blocks);
	}
	return 0;
}

static int
heavier(const void *a, const void *b, void *tree)
{
	const struct tree *t = tree;
	const struct tree_node *x = &t->nodes[*(const uint32_t *)a].public;
	const struct tree_node *y = &t->nodes[*(const uint32_t *)b].public;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return (x->label > y->label) - (x->label < y->label);
}

int
tree_sort(struct tree *t)
{
	uint32_t *children = calloc(t->count, sizeof(*children));

	if (!children)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		uint32_t *link = &t->nodes[i].public.first_child;
		size_t n = 0;

		for (uint32_t c = *link; c; c = t->nodes[c].public.next)
			children[n++] = c;
		qsort_r(children, n, sizeof(*children), heavier, t);
		for (size_t k = 0; k < n; k++) {
			*link = children[k];
			link = &t->nodes[children[k]].public.next;
		}
		*link = 0;
	}
	free(children);
	return 0;
}

const struct tree_node *
tree_node(const struct tree *t, uint32_t number)
{
	return &t->nodes[number].public;
}

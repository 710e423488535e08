/* tree.h - stacks folded into a tree: callers below callees. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_TREE_H
#define SEEP_REPORT_TREE_H

#include <stddef.h>
#include <stdint.h>

/* Node 0 is the root: its children are the functions that allocate. */
struct tree_node {
	uint64_t weight; /* bytes, or what the report is about */
	uint64_t blocks;
	uint64_t sites;
	uint32_t label;
	uint32_t first_child, next; /* 0: none; the heaviest comes first */
};

struct tree;

/* -ENOMEM. */
int tree_new(struct tree **ret);

/* NULL is fine. */
void tree_free(struct tree *t);

/* One site; the first of the labels is the innermost. -ENOMEM. */
int tree_add(struct tree *t, const uint32_t *labels, size_t count,
    uint64_t weight, uint64_t blocks);

/* After the last tree_add(): puts children in order. -ENOMEM. */
int tree_sort(struct tree *t);

/* Valid until the next tree_add(). */
const struct tree_node *tree_node(const struct tree *t, uint32_t number);

#endif

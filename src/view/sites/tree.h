/* tree.h - the sites of a view as a tree of callers, or of callees. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TREE_H
#define SEEP_TREE_H

#include "view/sites/amount.h"
#include "view/sites/view.h"

struct tree_options {
	int metric;       /* enum view_metric */
	int order;        /* enum amount_order */
	bool top_down;    /* main first; else the user's own that allocates */
	bool by_line;     /* separate nodes for lines of a function */
	bool grown_first; /* sort by amounts_compare_growth() */
};

/*
 * Only the sites are stored, in the order of their stacks. A node is a range of
 * sites whose stacks begin alike, and its children are found when they are
 * asked for. So the tree costs as much as the part that is looked at.
 */
struct tree;

enum { TREE_API = UINT32_MAX }; /* instead of a frame: the allocation */

struct tree_node {
	uint32_t first, last; /* the range, without last */
	uint32_t depth;       /* number of frames that lead here; the root: 0 */
	uint32_t frame;       /* without a line if it stands for several */
	uint32_t repeats;     /* how deep the recursion is; 1: there is none */
	uint8_t api;          /* if frame is TREE_API */
	bool is_inner;        /* the node before it calls it */
	struct amounts amounts;
};

/* Borrows the view; may add frames to it. -ENOMEM. */
int tree_new(struct view *v, const struct tree_options *options, struct tree **ret);

/* NULL is fine. */
void tree_free(struct tree *t);

/* All sites. */
void tree_root(const struct tree *t, struct tree_node *ret);

/*
 * The children, sorted; the caller frees them. A node where all stacks end has
 * none. -ENOMEM.
 */
int tree_children(
    struct tree *t, const struct tree_node *n, struct tree_node **ret, size_t *ret_count);

#endif

/* massif_tree.h - the heap at one moment as a tree of callers, in the form of massif. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MASSIF_TREE_H
#define SEEP_MASSIF_TREE_H

#include <stdbool.h>
#include <stdio.h>

#include "view/sites/view.h"

enum {
	MASSIF_DEPTH = 30,    /* massif's default; --depth changes it */
	MASSIF_PER_MILLE = 1, /* of the total; smaller branches are summed up */
};

struct massif_tree;

/* Frames of a stack up to `depth`; full: all of them, all branches. -ENOMEM. */
int massif_tree_new(const struct view *v, unsigned depth, bool full, struct massif_tree **ret);

/* NULL is fine. */
void massif_tree_free(struct massif_tree *t);

/*
 * `bytes` are those of the view's sites, by number; the whole may be more than
 * their sum. -ENOMEM.
 */
int massif_tree_write(struct massif_tree *t, FILE *out, const uint64_t *bytes, uint64_t whole);

#endif

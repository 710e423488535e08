/* dominators.h - of each node of a graph, the last one that all ways to it pass. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOMINATORS_H
#define SEEP_DOMINATORS_H

#include "analysis/holders/pointer_graph.h"

/*
 * The immediate dominator of each number, by the algorithm of Lengauer and
 * Tarjan with path compression: O(pointers * log nodes) whatever the process
 * has built, and no recursion. Without the dominator its nodes could not be
 * reached, so their bytes are what it retains.
 *
 * Uses up o->parent, which is freed. `ret` is for pointer_graph_give(), count numbers:
 * ret[v] < v, ret[0] is 0; 0 where several roots hold it. -ENOMEM, -E2BIG.
 */
int dominators_find(
    struct graph_order *o, const struct graph_back *b, struct graph_memory *m, uint32_t **ret);

#endif

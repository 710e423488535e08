/* holders.h - who holds how much of a heap: a tree of dominators, with alike blocks as one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HOLDERS_H
#define SEEP_HOLDERS_H

#include "analysis/holders/heap_graph.h"

/*
 * A tree of dominators has as many nodes as the heap has blocks. Blocks of one
 * class (one allocating function) below the same holder are one node here: "1.2
 * million of dict_add". Items of a list hold each other, so a block whose
 * holder has its class, or whose holder's holder has it, joins that node. On
 * one way a class occurs twice at most.
 *
 * Retained is what could not be reached without the blocks of a node: their own
 * bytes, and all that they dominate. What several of them dominate counts once.
 */
struct holders_sum {
	uint64_t blocks, bytes;
};

struct holders_node {
	uint32_t parent; /* node 0 is its own */
	uint32_t class;
	uint32_t first; /* number of one of its members */
	uint32_t depth;
	struct holders_sum own, retained; /* roots are members without bytes */
};

/* What is at a number of the order; ask for numbers above 0. */
struct holders_item {
	uint32_t class; /* below HOLDERS_CLASSES_MAX */
	uint32_t group; /* any other classes, whose retained bytes are wanted */
	bool is_root;
	uint64_t bytes;
};
typedef struct holders_item holders_ask(void *context, uint32_t number);

#define HOLDERS_CLASSES_MAX UINT32_C(0x7fffffff)

enum {
	HOLDERS_DEPTH_MAX = 64,
	HOLDERS_NODES_MAX = 1 << 20,
};

struct holders {
	struct holders_node *nodes; /* 0: above all roots; parents come first */
	size_t count, room;
	uint32_t *of;     /* by number: its node */
	uint32_t numbers; /* how many */
	uint64_t cut;     /* blocks that joined their holder's node: no room */
};

/*
 * idom as of dominators_find(), `count` numbers. groups: so many sums, by group,
 * are added to. -ENOMEM, -E2BIG.
 */
int holders_make(uint32_t count, const uint32_t *idom, holders_ask *ask, void *context,
    struct holders_sum *groups, size_t group_count, struct graph_memory *m, struct holders *ret);
void holders_release(struct holders *h, struct graph_memory *m);

/*
 * The way to a node from its root: the nodes below node 0, root first. Returns
 * how many, HOLDERS_DEPTH_MAX at most.
 */
size_t holders_way(const struct holders *h, uint32_t node, uint32_t ret[HOLDERS_DEPTH_MAX]);

/*
 * Where on a way things pile up: the index of the last node before the number
 * of members grows most. If it never at least doubles, the last node itself.
 */
size_t holders_pile(const struct holders *h, const uint32_t *way, size_t count);

/*
 * What piles up at each node, each byte at one node: its own bytes, and those of
 * children that have at least four times as many members, and of what these
 * hold, unless that is much fewer. `ret` has room for h->count of them. -ENOMEM.
 */
int holders_gather(const struct holders *h, uint64_t *ret);

/* ---- dominators: of each node of a graph, the last one that all ways to it pass ---- */

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

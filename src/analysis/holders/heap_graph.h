/* heap_graph.h - a judged heap as a graph: who points to whom, in less memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HEAP_GRAPH_H
#define SEEP_HEAP_GRAPH_H

#include "base/std.h"
#include "analysis/leaks/heap.h"

/* ---- pointer_graph: who points to whom, as numbers: an order from the roots, and
 * backwards ---- */

/*
 * Heaps have many millions of blocks, so all memory that the files around this
 * graph take is counted here and has a limit.
 */
struct graph_memory {
	uint64_t bytes, most; /* taken now; the most that were taken at once */
	uint64_t max_bytes;
	uint64_t refused; /* bytes in all that the last refusal was about */
};

/* Zeroed. NULL with *err: -ENOMEM, -E2BIG beyond max_bytes. */
void *pointer_graph_take(struct graph_memory *m, uint64_t count, size_t size, int *err);

/* Frees what pointer_graph_take() gave; NULL is fine. */
void pointer_graph_give(struct graph_memory *m, void *p, uint64_t count, size_t size);

/* Pointers of node i: to[begin[i]] up to to[begin[i + 1]]. */
struct graph {
	uint64_t *begin; /* nodes + 1 of them */
	uint32_t *to;
	uint32_t nodes; /* below GRAPH_NODES_MAX */
};

#define GRAPH_NODES_MAX UINT32_C(0x7fffffff)
#define GRAPH_NONE      UINT32_MAX

/*
 * Roots come in layers: what a node of an earlier layer holds is not held by a
 * later one. So a pointer that a stack has into a list, of an iterator perhaps,
 * does not take the list away from the global variable that holds it.
 */
enum { GRAPH_LAYERS = 9 };

struct graph_root {
	uint32_t node;
	uint32_t layer; /* below GRAPH_LAYERS */
};

/*
 * Nodes that can be reached, numbered from 1 in the order of a walk in depth
 * from the roots, layer by layer. Number 0 is one node above all roots.
 */
struct graph_order {
	uint32_t count;                   /* of numbers: 1 + nodes that were reached */
	uint32_t nodes;                   /* of the graph */
	uint32_t *number;                 /* by node; 0: not reached. NULL later: see below */
	uint32_t *node;                   /* by number */
	uint32_t *parent;                 /* by number: from where the walk came */
	uint32_t first[GRAPH_LAYERS + 1]; /* numbers of each layer */
};

/* `roots` in any order. Without recursion. -ENOMEM, -E2BIG. */
int pointer_graph_walk(const struct graph *g, const struct graph_root *roots, size_t count,
    struct graph_memory *m, struct graph_order *ret);
void pointer_graph_order_release(struct graph_order *o, struct graph_memory *m);

/* The layer of a number above 0. */
unsigned pointer_graph_layer(const struct graph_order *o, uint32_t number);

/*
 * By number, the numbers that point to it: from[begin[v]] up to
 * from[begin[v + 1]]. Pointers from a later layer into an earlier one are left
 * out, and so are those of a node to itself. Roots have 0 among theirs.
 */
struct graph_back {
	uint64_t *begin; /* count + 1 */
	uint32_t *from;
	uint64_t edges;
	uint32_t count;
};
int pointer_graph_turn(const struct graph *g, const struct graph_order *o,
    const struct graph_root *roots, size_t count, struct graph_memory *m, struct graph_back *ret);
void pointer_graph_back_release(struct graph_back *b, struct graph_memory *m);

/* ---- heap_graph: a judged heap as a graph, in less memory ---- */

/* A pointer of a root, by its number from 0 on, to a block, by its index. */
struct heap_graph_root {
	uint32_t root, target;
};

/* A pointer between blocks, by node. */
struct heap_graph_edge {
	uint32_t from, to;
};

/*
 * A block that is not in the heap (grown.h): a node behind those of the heap. Or
 * one that has taken the place of a block in it, as that node.
 */
struct heap_graph_block {
	uint32_t node, site;
	uint64_t size;
};

/*
 * Nodes are the blocks by index, then the roots. Of pointers between blocks only
 * certain ones are left.
 */
struct heap_graph {
	struct graph g;
	uint64_t edges;
	uint32_t blocks, roots;
	uint32_t *site; /* by block, as `site_of` says */
	uint32_t *size; /* by block; see heap_graph_size() */
	struct heap_graph_large {
		uint32_t block;
		uint64_t size;
	} * large;
	size_t large_count;
};

struct heap_graph_input {
	const struct heap_graph_root *pointers; /* of roots */
	size_t count;
	uint32_t roots;
	/* two more roots: of blocks that are lost, and that may be held */
	uint32_t lost, weak;
	const struct heap_graph_block *more; /* in any order */
	size_t more_count;
	uint32_t new_nodes;                  /* of these, behind the heap's */
	const struct heap_graph_edge *edges; /* by `from` */
	size_t edge_count;
	uint32_t (*site_of)(void *context, uint32_t site);
	void *context;
};

/*
 * Takes the heap, which heap_judge() has judged, also if it fails. All that is
 * taken is counted by m. -ENOMEM, -E2BIG.
 */
int heap_graph_take(struct heap *h, const struct heap_graph_input *in, struct graph_memory *m,
    struct heap_graph *ret);

/* The pointers are no longer needed; or all of it. */
void heap_graph_drop_pointers(struct heap_graph *g, struct graph_memory *m);
void heap_graph_release(struct heap_graph *g, struct graph_memory *m);

uint64_t heap_graph_size(const struct heap_graph *g, uint32_t block);

#endif

/* pointer_pointer_graph.h - who points to whom, as numbers: an order from the roots, and backwards. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_POINTER_GRAPH_H
#define SEEP_POINTER_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif

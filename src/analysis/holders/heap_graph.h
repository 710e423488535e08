/* heap_graph.h - a judged heap as a graph, in less memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HEAP_GRAPH_H
#define SEEP_HEAP_GRAPH_H

#include "analysis/holders/pointer_graph.h"
#include "analysis/leaks/heap.h"

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

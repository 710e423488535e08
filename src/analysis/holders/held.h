/* held.h - who holds the blocks of a heap, and how much each retains. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELD_H
#define SEEP_HELD_H

#include "analysis/holders/grown.h"
#include "analysis/holders/heap_graph.h"
#include "analysis/holders/holders.h"

/*
 * Numbers go in and numbers come out: classes of blocks (allocating functions)
 * and of roots (names) are given by the caller, who can ask for names.
 */
struct held_root {
	uint32_t layer; /* root_places_layer() */
	uint32_t class;
	bool is_named; /* of two ways of one length, one from such a root */
};

struct held_input {
	struct heap *heap; /* judged; taken, also on failure */
	uint64_t max_bytes;
	const struct held_root *roots;
	uint32_t root_count;
	uint32_t lost, weak; /* two of the roots: see heap_graph.h */
	const struct heap_graph_root *pointers;
	size_t pointer_count;
	const struct grown *grown; /* NULL: no block came meanwhile */
	/* of the number that a block has: below site_count */
	uint32_t (*site_of)(void *context, uint32_t site);
	void *context;
	const uint32_t *class_of; /* by site; below those of roots */
	uint32_t site_count;
};

struct held_site {
	struct holders_sum own, retained;
};

struct held {
	struct graph_memory memory;
	struct heap_graph graph; /* without its pointers */
	struct graph_order order;
	struct graph_back back;
	uint32_t *idom;
	struct holders holders;
	struct held_site *sites; /* by site */
	const uint32_t *class_of;
	uint32_t site_count;
	struct held_root *roots;
	/*
	 * By node of holders below node 0: where no single root holds it, the
	 * node that points to it from nearest to a root. 0: none is known.
	 */
	uint32_t *nearest;
	struct holders_sum all, unheld; /* that were reached, and that were not */
};

/*
 * -ENOMEM; -E2BIG: more than max_bytes, of which *ret_needed would have been
 * needed for the next step. in->class_of is used as long as *ret.
 */
int held_new(const struct held_input *in, struct held **ret, uint64_t *ret_needed);
void held_free(struct held *h);

/* Blocks of a site below one node of h->holders. */
struct held_way {
	uint32_t node;
	struct holders_sum sum;
};

/*
 * The nodes that blocks of a site are in, by bytes, for free(). *ret_unheld: what
 * is left of the site, to which no way leads. -ENOMEM.
 */
int held_ways(const struct held *h, uint32_t site, struct held_way **ret, size_t *ret_count,
    struct holders_sum *ret_unheld);

/*
 * The same for all sites at once, of each the largest: by site, for free(). One
 * to which no way leads has no blocks in its sum. -ENOMEM.
 */
int held_best_ways(const struct held *h, struct held_way **ret);

/*
 * The way to a node from a root. Where no single root holds what is on it, the
 * shortest way there is: *ret_shared nodes come before that; 0: there are none,
 * and each node of the way is dominated by the one before. Returns how many.
 */
enum { HELD_WAY_MAX = 4 * HOLDERS_DEPTH_MAX };
size_t held_way(
    const struct held *h, uint32_t node, uint32_t ret[HELD_WAY_MAX], size_t *ret_shared);

/*
 * Of a way with *ret_shared above 0: other nodes that point to the first of those
 * behind it, from a sample. Returns how many.
 */
enum { HELD_SEVERAL = 3 };
size_t held_several(const struct held *h, uint32_t node, uint32_t ret[HELD_SEVERAL]);

/* Is the node made of roots? Which one, for example: *ret_root. */
bool held_is_root(const struct held *h, uint32_t node, uint32_t *ret_root);

/*
 * The node of a block that this root points to, if it alone holds the block
 * (*ret_alone), or if several do; 0: another one holds it.
 */
uint32_t held_direct(const struct held *h, uint32_t root, uint32_t block, bool *ret_alone);

/*
 * Nodes at which most bytes pile up, the largest first: those that gather
 * `least` bytes or more. For free(). -ENOMEM.
 */
int held_suspects(const struct held *h, uint64_t least, uint32_t **ret, size_t *ret_count);

#endif

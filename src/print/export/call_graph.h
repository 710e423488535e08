/* call_call_graph.h - the call graph of a view, with inclusive and own costs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CALL_GRAPH_H
#define SEEP_CALL_GRAPH_H

#include "print/export/functions.h"

enum { GRAPH_COSTS = 8 };

static const uint32_t GRAPH_SELF = UINT32_MAX; /* no callee: it allocates */

/* A function; inclusive costs count each stack once. */
struct graph_node {
	uint32_t function; /* number in the functions */
	uint32_t level;    /* which recursion of it; 0: the outermost */
	uint64_t cost[GRAPH_COSTS];
	uint32_t seen; /* number of the last stack that had it; while building */
};

struct graph_edge {
	uint32_t caller, callee; /* numbers of nodes; callee: GRAPH_SELF */
	uint32_t line;           /* of the call; 0 without lines */
	uint32_t seen : 31;
	uint32_t is_residual : 1; /* functions between the two are left out */
	uint64_t cost[GRAPH_COSTS];
};

struct graph {
	struct graph_node *nodes;
	size_t node_count;
	struct graph_edge *edges; /* by caller, line, callee */
	size_t edge_count;
	uint64_t total[GRAPH_COSTS];
	uint64_t no_frames[GRAPH_COSTS]; /* part of it that is in no node */
};

struct graph_options {
	/* what a site costs; sums saturate */
	void (*costs)(const struct view_site *s, void *context, uint64_t ret[GRAPH_COSTS]);
	void *context;
	bool levels;      /* separate nodes for recursive calls */
	bool lines;       /* separate edges for calls on different lines */
	const bool *keep; /* by function: false leaves it out; NULL: keep all */
};

/* Adds the functions that it finds to `functions`. -ENOMEM. */
int call_graph_new(const struct view *v, struct functions *functions,
    const struct graph_options *options, struct graph **ret);

/* NULL is fine. */
void call_graph_free(struct graph *g);

#endif

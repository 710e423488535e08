/* callers.h - sites summed up by the code that allocates. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CALLERS_H
#define SEEP_CALLERS_H

#include "base/std.h"
#include "view/sites/view.h"

/* All sites whose innermost code addresses are the same. */
struct callers_row {
	const struct view_site *site; /* one of them */
	uint32_t frame_count;         /* of the site's frames: those of the addresses */
	struct view_figures figures;
	uint64_t size_min, size_max; /* of blocks; 0, 0: not known */
};

struct callers {
	struct callers_row *rows; /* most live bytes first */
	size_t count;
};

/*
 * By `depth` addresses, of the process with that number. The view is neither
 * grouped nor folded. -ENOMEM.
 */
int callers_init(struct callers *c, const struct view *v, uint32_t process, unsigned depth);

void callers_release(struct callers *c);

/* "libfoo.so+1b746e", as addr2line takes it after the plus. */
void callers_address(FILE *out, const struct view *v, const struct callers_row *row);

/* The address in the memory of the process. */
uint64_t callers_absolute(const struct view *v, const struct callers_row *row, uint32_t process);

/*
 * "f at a.c:3 (inlined by) g at b.c:9", as addr2line -pif prints it; " <- "
 * between addresses.
 */
void callers_location(FILE *out, const struct view *v, const struct callers_row *row);

/* "# program (pid 12)" and a newline, if the view has several processes. */
void callers_heading(FILE *out, const struct view *v, uint32_t process);

/* Does the view have the process with this number of the session? */
bool callers_has(const struct view *v, uint32_t process);

/* ---- functions: the functions of a view's frames, numbered ---- */

/* Frames of equal function, module and source file are of one. */
struct functions;

/* -ENOMEM. */
int functions_new(const struct view *v, struct functions **ret);

/* NULL is fine. */
void functions_free(struct functions *f);

/* The number of a frame's function, as they come up: 0, 1, ... -ENOMEM. */
int functions_find(struct functions *f, uint32_t frame, uint32_t *ret);

size_t functions_count(const struct functions *f);

/* One frame of it. */
const struct frame *functions_frame(const struct functions *f, uint32_t number);

/* ---- call_graph: the call graph of a view, with inclusive and own costs ---- */

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

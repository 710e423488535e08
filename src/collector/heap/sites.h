/* sites.h - stacks to small ids: nodes, inner frames, sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SITES_H
#define SEEP_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/segment.h"
#include "format/format.h"

/*
 * A stack is (node, inner): the inner frames as one record, shared by all
 * stacks that end alike, and a node in the trie of the outer frames. Each
 * stack is stored once. Lock-free; a signal handler may call everything.
 */
struct site_id {
	uint32_t v; /* 0: none */
};

/* Nodes that every segment has; a stack that was cut hangs below one. */
enum {
	SITES_NODE_ROOT = 0,
	SITES_NODE_TRUNCATED = 1,
	SITES_NODE_OUTER_DROPPED = 2,
	SITES_NODE_NO_ROOM = 3,
	SITES_NODE_CUT = 4,
};

/* At three quarters of them, outer frames are dropped: above a million. */
enum { SITES_MAX = 3 << 19, SITES_NODES_MAX = 3 << 21 };

enum { SITES_DEPTH_MAX = 512 }; /* outer frames of a stack: the depth limit */

/*
 * Ids from first_id on; also how a forked child starts over. False: no memory,
 * or its ancestors have used up the ids.
 */
bool sites_init(uint32_t first_id);

/* The id counter: what a forked child's first_id will be. */
uint32_t sites_next_id(void);

/*
 * 0 when there is no room, or no more than a quarter of it: the caller then
 * hangs the inner frames below SITES_NODE_OUTER_DROPPED.
 */
uint32_t sites_node(uint32_t parent, uint64_t frame);

/*
 * The same. *is_new says that `parent` has just been made, so that there is
 * nothing below it to be looked for, and afterwards whether the node has.
 */
uint32_t sites_child(uint32_t parent, uint64_t frame, bool *is_new);

/*
 * The way from a node to the one of the innermost of some frames. Most nodes
 * stand for one frame. Where a stack leaves the trie and has many frames more,
 * a node is made for the first of them, and below it runs: nodes that stand for
 * up to six frames, in a record like those of inner frames. Other stacks often
 * have the same frames below another caller, so they share these records.
 *
 * The copy of the last stack (outer.h) makes no runs, because other stacks join
 * it at any frame. So the same frames may have several nodes, in runs and one by
 * one, and a stack that has no site below its node may have one below another;
 * sites_known() finds it.
 */
struct sites_way {
	const uint64_t *frames; /* innermost first */
	uint32_t left;          /* of the frames; above 0 for sites_next() */
	uint32_t node;          /* where it is */
	bool makes_runs;        /* if many are new; else it follows them */
	bool is_new;            /* the node has just been made */
};

/*
 * Goes one node further, and makes it if it is not there; to the end, if it
 * makes runs. Returns how many frames that are; 0 as in sites_node().
 */
uint32_t sites_next(struct sites_way *w);

/*
 * The step from the frame of this node to its parent was a guess. It always is,
 * because there is no unwind information, so no node has two forms.
 */
void sites_mark_guess(uint32_t node);

/* 0 when there is no room; an empty list has a number too. */
uint32_t sites_inner(const uint64_t *frames, uint32_t count);

/*
 * The id of a stack. Never fails: when the budget is spent, it is the one of
 * "(no room)", and the event is counted there.
 */
struct site_id sites_get(uint32_t node, uint32_t inner, enum seg_api api);

/* The two halves of sites_get(): 0 if there is none; one more, the same way. */
struct site_id sites_find(uint32_t node, uint32_t inner);
struct site_id sites_new(uint32_t node, uint32_t inner, enum seg_api api);

/* Has any node been made that is a run? */
bool sites_have_runs(void);

/* The node of a site, for sites_next(), sites_get() and comparing; 0: none. */
uint32_t sites_node_of(struct site_id id);

/*
 * A whole stack, as known.h lists it: a hash of its outer frames, those below
 * the node `base` (innermost first), and the record of the inner ones.
 */
struct sites_stack {
	uint64_t hash;
	const uint64_t *frames;
	uint32_t count, base, inner;
	bool is_like; /* out: one with this hash has other nodes or frames */
};

/* The id of a stack that sites_know() has entered, proven; 0: none. */
struct site_id sites_known(struct sites_stack *s);

/* Enters the id of a stack, by the hash of sites_known(). */
void sites_know(uint64_t hash, uint32_t inner, struct site_id id);

/* A new stack, which sites_known() and nothing else finds; like sites_new(). */
struct site_id sites_enter(uint64_t hash, uint32_t node, uint32_t inner, enum seg_api api);

/*
 * The id of the same stack for a resource of this pool, or for a mapping (`pool`
 * is then an enum seg_mapping); 0 when there is no room. The stack's own id stays without
 * figures, if nobody else uses it.
 */
struct site_id sites_user(struct site_id stack, uint32_t pool);

/* The stack of an id, outermost last; for the verifying build and tests. */
uint32_t sites_frames(struct site_id id, uint64_t *ret_frames, uint32_t max);

/* Was frame i of that list left by a guess? Likewise. */
bool sites_guessed_after(struct site_id id, uint32_t i);

/* The special node that the stack hangs below, or SITES_NODE_ROOT. Likewise. */
uint32_t sites_root(struct site_id id);

extern SEEP_HIDDEN struct segment_table sites_tables[3];

#endif

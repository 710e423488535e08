/* stack_sums.h - what a service has allocated, by call stack, until a server has it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STACK_SUMS_H
#define SEEP_STACK_SUMS_H

#include "base/std.h"
#include "print/export/texts.h"
#include "view/stacks/frames.h"
#include "kit/data/dict.h"

struct stack_sums_pair {
	uint64_t blocks, bytes;
};

struct stack_sums_stack {
	uint32_t *frames; /* numbers in stack_sums.frames, innermost first */
	uint32_t frame_count;
	struct stack_sums_pair live;    /* of all processes, at the last reading */
	struct stack_sums_pair waiting; /* allocated, and in no profile yet */
	struct stack_sums_pair sending; /* in a profile that waits for its answer */
};

/* A stack as a process has it: modules and offsets, as a hash of 128 bits. */
struct stack_sums_key {
	uint64_t a, b;
};

struct stack_sums_known {
	struct stack_sums_key key;
	uint32_t stack;
};

enum {
	STACK_SUMS_OTHER = 0,   /* the stack of everything that has no own one */
	STACK_SUMS_MOST = 8192, /* at most, twice what a profile may have */
};

/*
 * All processes of a service share one table; equal functions and lines are one
 * stack. Sums are exact, whatever there is room for: what has no stack of its
 * own is counted in stack STACK_SUMS_OTHER. Sums do not wrap.
 */
struct stack_sums {
	struct strings strings;
	struct frame *frames; /* texts are those of the strings */
	size_t frame_count, frame_room;
	struct dict frame_index, label_index;
	struct stack_sums_stack *stacks;
	size_t stack_count, stack_room;
	struct dict stack_index;
	struct stack_sums_known *known;
	size_t known_count, known_room;
	struct dict known_index;
	struct process_module *modules; /* [0] is none; paths: the strings' */
	size_t module_count, module_room;
	size_t bytes;          /* memory, about */
	uint64_t period_bytes; /* of a sampled process; 0: all are exact */
};

/* An empty one. -ENOMEM: nothing is held. */
int stack_sums_init(struct stack_sums *b);
void stack_sums_release(struct stack_sums *b);

/* The stack of a process's stack; false: not known yet. */
bool stack_sums_find(const struct stack_sums *b, const struct stack_sums_key *key, uint32_t *ret);

/*
 * Enters a stack of a view, with the module of each frame looked up in p, under
 * this key. If there is no room for it, it is STACK_SUMS_OTHER. -ENOMEM.
 */
struct view;
struct view_site;
int stack_sums_add(struct stack_sums *b, const struct stack_sums_key *key, const struct process *p,
    const struct view *v, const struct view_site *s);

/* All live amounts are 0: a reading of the service begins. */
void stack_sums_clear_live(struct stack_sums *b);

void stack_sums_add_live(struct stack_sums *b, uint32_t stack, struct stack_sums_pair more);
void stack_sums_add_allocated(struct stack_sums *b, uint32_t stack, struct stack_sums_pair more);

/* Everything that waits is being sent from now on. */
void stack_sums_send(struct stack_sums *b);

/* The server has accepted it, or it has not: then it waits again. */
void stack_sums_accepted(struct stack_sums *b);
void stack_sums_refused(struct stack_sums *b);

struct stack_sums_total {
	struct stack_sums_pair live, waiting, sending;
};
struct stack_sums_total stack_sums_total(const struct stack_sums *b);

/*
 * Keeps the `keep` largest stacks at most, those without amounts never; the rest
 * is in STACK_SUMS_OTHER. *ret_merged: how many stacks with amounts went there.
 * -ENOMEM: nothing has changed.
 */
int stack_sums_thin(struct stack_sums *b, size_t keep, size_t *ret_merged);

/* Numbers of all stacks but STACK_SUMS_OTHER, the largest first; for free(). */
uint32_t *stack_sums_by_size(const struct stack_sums *b);

#endif

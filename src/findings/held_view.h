/* held_view.h - who holds what in a process, with names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELD_VIEW_H
#define SEEP_HELD_VIEW_H

#include "base/std.h"
#include "analysis/holders/held.h"
#include "analysis/holders/root_notes.h"
#include "findings/by_type.h"
#include "findings/score_list.h"
#include "names/find/names.h"
#include "recording/parts/inventory.h"
#include "view/sites/view.h"

/* A root by name: one variable, one thread's stack, one mapping. */
struct held_view_root {
	struct root_place place;
	const char *name;   /* of a variable; NULL: not known */
	const char *file;   /* source file of a static one; NULL: not known */
	const char *module; /* path; NULL: in none */
	bool is_static;
	bool may_move; /* it is none, and the process ran on during the look */
	uint32_t class;
};

/* What is said of the blocks of one number of struct held. */
struct held_view_site {
	uint32_t id; /* 0: not known, or of a parent that is not there */
	const struct view *view;
	const struct view_site *site; /* NULL: not known */
};

/* Where a root points to the blocks of a node. */
struct held_view_entry {
	uint64_t offset; /* in the variable; without one, in the module */
	uint32_t words;  /* 0: not from a variable; above 1: several */
	uint32_t root;   /* whose word it is: the first of several roots */
};

struct held_view {
	struct held *held;
	struct held_view_root *roots;
	size_t root_count, root_room;
	char **labels; /* by class of blocks: names of functions */
	size_t label_count, label_room;
	struct held_view_site *sites; /* by number of held_site */
	uint32_t *class_of;           /* likewise */
	size_t site_count;
	struct held_view_entry *entries; /* by node */
	struct view **views;             /* of the process, and of ancestors */
	size_t view_count;
	uint64_t needed_bytes; /* of a failure with -E2BIG */
	const struct session *session;
	const struct process *process;
	bool was_stopped;
	bool is_partial; /* some blocks of the process are not known */
};

/*
 * `heap` (taken, also on failure) and notes are of judge_detach_heap(). All else
 * is borrowed. -ENOMEM; -E2BIG, see needed_bytes: only that is valid then.
 */
struct held_view_input {
	const struct session *session;
	const struct process *process;
	pid_t pid;
	struct names *names;
	const struct view_options *view;
	struct heap *heap;
	const struct root_notes *notes;
	uint64_t max_bytes;
	bool was_stopped;
};
int held_view_make(const struct held_view_input *in, struct held_view *ret);
void held_view_release(struct held_view *v);

/*
 * Of all bytes that were read: those that a look of a running process may have
 * wrong, because a pointer to them was moved while it was read. They seem to be
 * held by nothing, by memory of which no block is known, or by a thread's stack.
 */
uint64_t held_view_vague(const struct held_view *v);

/* Is a root nothing, or memory of which no block is known? */
bool held_view_is_vague(const struct held_view *v, uint32_t root);

/*
 * The number of a site by the id that reports show; -1: there is none. Blocks of
 * several ids are one site, if reports show them so.
 */
int64_t held_view_find(const struct held_view *v, uint32_t id);

/* ---- held_words: who holds what, in words: a root, and a way from it ---- */

/*
 * "global `sessions`+0x40 -> a block of dict_expand (8 MiB) -> 1,200,000
 * of dict_add (404 MiB)": the way to most blocks of a site, for the line "held
 * by" below GROWTH. `id` as reports show it. Writes no newline. False: nothing is
 * known of the site, and nothing is written. *ret_vague: the root is memory of
 * which nothing is known, because the process made it during the look.
 */
bool held_words_line(FILE *out, const struct held_view *v, uint32_t id, bool *ret_vague);

/* The way to a node, without a newline. */
void held_words_way(FILE *out, const struct held_view *v, uint32_t node);

/*
 * What piles up below a node: the child that retains more than half of it, and so
 * on, for a few steps; or the node itself.
 */
uint32_t held_words_follow(const struct held_view *v, uint32_t node);

/* "1,200,000 of dict_add (404 MiB)": the blocks of one node. */
void held_words_node(FILE *out, const struct held_view *v, uint32_t node);

/* "global `sessions`" and the like. `count`: so many roots of this name. */
void held_words_root(FILE *out, const struct held_view_root *r, uint64_t count);

/* ---- leaks_growth: what grows in a process that runs, and who holds it ---- */

/*
 * Reads the ages of its blocks, however long that takes, if it is old enough for
 * a score. To be called soon after its figures were read. -ENOMEM; if ages cannot
 * be read, it has no score.
 */
int leaks_growth_ages(struct process *p);

/* How to look. */
struct leaks_growth {
	const struct session *session;
	const struct view_options *view;
	uint64_t max_memory; /* 0: a quarter of what is available */
	bool with_swapped;
};

/*
 * Looks once more at a process in which something grows, and fills `held` of
 * these lines. If it cannot be found out, they stay
 * as they are. -ENOMEM.
 */
int leaks_growth_hold(const struct leaks_growth *o, const struct process *p, struct names *names,
    struct score_list *l);

/* ---- inventory_of: what one reading of a heap found, as an inventory ---- */

/* An inventory that is being made. It borrows nothing of what is added. */
struct inventory_of {
	struct inventory inventory;
	FILE *texts; /* each with a NUL; where each begins is known when all are there */
	char *text;
	size_t len;
};

/*
 * All but end: -ENOMEM. An end must follow each begin: it returns `err`, or -ENOMEM;
 * after 0, *ret is for inventory_release().
 */
int inventory_of_begin(struct inventory_of *t);
int inventory_of_held(struct inventory_of *t, const struct held_view *v);
int inventory_of_types(struct inventory_of *t, const struct by_type *types, bool is_partial);
int inventory_of_end(struct inventory_of *t, int err, struct inventory *ret);

#endif

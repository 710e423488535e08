/* held_view.h - who holds what in a process, with names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELD_VIEW_H
#define SEEP_HELD_VIEW_H

#include "names/find/names.h"
#include "view/sites/view.h"
#include "analysis/holders/held.h"
#include "analysis/holders/root_places.h"

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

#endif

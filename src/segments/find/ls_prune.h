/* ls_prune.h - the files that seep ls --prune removes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LS_PRUNE_H
#define SEEP_LS_PRUNE_H

#include "base/std.h"
#include "kit/os/fault.h"

/* Files of one directory that may be removed if no process maps them. */
struct ls_prune {
	int dir;          /* held: the path may lead elsewhere by now */
	const char *path; /* for messages */
	uid_t owner;      /* about the directory */
	fault_say *say;   /* what is kept, and why */
	struct ls_prune_file *files;
	size_t count;
	char **parents; /* files with slots of children that have ended */
	size_t parent_count;
};

/* Adds a segment or snapshot of a process that has ended. -ENOMEM, as all of these. */
int ls_prune_add(struct ls_prune *p, const char *name, const struct stat *st);

/* Adds a control file if its segment, or its recorder, is gone. */
int ls_prune_control(struct ls_prune *p, const char *name, const struct stat *st);

/*
 * Adds a snapshot that was not renamed yet if its process was killed meanwhile.
 */
int ls_prune_temporary(struct ls_prune *p, const char *name, const struct stat *st);

/* Is it so old that nobody is still setting it up? */
bool ls_prune_is_settled(const struct stat *st);

/* A segment that stays, but has slots to be given back. */
int ls_prune_add_parent(struct ls_prune *p, const char *name);

/*
 * Removes those that no process maps, and gives slots back. How many files and
 * slots these were.
 */
size_t ls_prune_run(const struct ls_prune *p, size_t *ret_slots);

void ls_prune_release(struct ls_prune *p);

#endif

/* ls_row.h - one process in the list of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LS_ROW_H
#define SEEP_LS_ROW_H

#include "base/std.h"
#include "segments/find/proc.h"
#include "session/process/process.h"

struct ls_row {
	const struct process *process;
	uid_t owner;           /* of the file */
	uint64_t stored_bytes; /* what the file occupies */
	const char *folder;    /* of the file; "": the name is all of its path */
	const char *name;
};

/* "running", "out of sight", ...: one word for people and for programs. */
const char *ls_row_state(const struct process *p);

/*
 * The pid as we see it, or, if it does not run or is out of sight, as it saw
 * itself.
 */
uint32_t ls_row_pid(const struct process *p);

/* ---- ls_elsewhere: processes whose segments are in no directory that ls lists ---- */

/*
 * A process in another mount namespace has a /dev/shm of its own, and one with
 * a SEEP_DIR may have it anywhere. Both are found by their memory maps.
 */
struct ls_elsewhere {
	struct ls_elsewhere_file *files; /* that have been listed */
	size_t count, room;
};

/* The file is in a directory that is listed. -ENOMEM. */
int ls_elsewhere_skip(struct ls_elsewhere *e, uint64_t device, uint64_t inode);

/*
 * Calls `show` for each running process that maps another segment, until
 * until_ns (CLOCK_MONOTONIC). *ret_unread: for how many there was no time.
 * -ENOMEM.
 */
int ls_elsewhere_list(struct ls_elsewhere *e, struct proc_cache *cache, uint64_t until_ns,
    void (*show)(void *context, const struct ls_row *r), void *context, size_t *ret_unread);

void ls_elsewhere_release(struct ls_elsewhere *e);

#endif

/* kept_roots.h - the root directories of containers, kept for names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_KEPT_ROOTS_H
#define SEEP_KEPT_ROOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "session/process/process.h"

/*
 * Names are found when a chapter ends, by the files of a process. The files of
 * a container can be reached through its processes alone, and not any more when
 * the last one has ended. So the root directory is kept open while a process
 * runs, and until the chapter that has its last state is written. What a
 * container had mounted below its root is not kept: modules that lay there
 * have no names then. All zero is an empty struct.
 */
struct kept_roots {
	struct kept_root *list;
	size_t count, room;
};

void kept_roots_release(struct kept_roots *r);

/*
 * Keeps the root of a process that runs, if it is another one than ours. The
 * caller checks afterwards that the pid is still that of the process. Returns
 * its view (names/find/fs_view.h) for the functions below. 0: it has our root, or it
 * cannot be kept.
 */
uint64_t kept_roots_enter(struct kept_roots *r, pid_t pid);

/* One process with this view has ended. */
void kept_roots_leave(struct kept_roots *r, uint64_t view);

/* Closes those in which nobody runs. */
void kept_roots_drop(struct kept_roots *r);

/*
 * The root of this view; of view 0 the only one there is. All zero: none. It is
 * valid until kept_roots_drop().
 */
struct process_root kept_roots_find(const struct kept_roots *r, uint64_t view);

#endif

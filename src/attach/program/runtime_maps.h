/* runtime_maps.h - makes runtimes write the names of their functions, and tidies up. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RUNTIME_MAPS_H
#define SEEP_RUNTIME_MAPS_H

#include "session/process/process.h"

/*
 * The variables that make node, java and Python (3.12 or later) write
 * /tmp/perf-PID.map. Call `set` with each name and its value: what is set now,
 * and what it lacks. A variable that lacks nothing is left out. Stops at an
 * error, which it returns; -ENOMEM.
 */
int runtime_maps_each(
    int (*set)(void *context, const char *name, const char *value), void *context);

/* Which maps are there before a run, and which processes the run had. */
struct runtime_maps;

/* Before the run. -ENOMEM. */
int runtime_maps_new(struct runtime_maps **ret);

/* NULL is fine. */
void runtime_maps_free(struct runtime_maps *m);

/* A process of the run. Without memory for it, its map stays. */
void runtime_maps_note(struct runtime_maps *m, const struct process *p);

/*
 * Removes the maps that these processes have made, and the logs that node then
 * writes into its directory, if that is ours: only regular files of our own
 * user that were not there before, and none of a process that runs.
 */
void runtime_maps_remove(const struct runtime_maps *m);

#endif

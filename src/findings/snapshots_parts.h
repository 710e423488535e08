/* snapshots_parts.h - what snapshots.c and print/json/moments_table.c share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAPSHOTS_PARTS_H
#define SEEP_SNAPSHOTS_PARTS_H

#include "view/sites/view.h"

struct snapshots_moment {
	const struct session *session;
	const struct process *process;
	uint64_t time_ns; /* since 1970 */
};

/*
 * Processes by their start, then by time; the caller frees them. -ENOMEM,
 * -ESRCH.
 */
int snapshots_find(struct session *const *sessions, size_t count, uint32_t pid,
    struct snapshots_moment **ret, size_t *ret_count);

/* How many entries at the start of the list belong to one process. */
size_t snapshots_row(const struct snapshots_moment *list, size_t count);

/* The options of the view that a mode needs for a moment of a series. */
void snapshots_options(const struct snapshots_moment *row, size_t number, int mode,
    struct view_options *o, struct view_side *before);

#endif

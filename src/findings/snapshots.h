/* snapshots.h - one process at several moments, by its snapshots. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAPSHOTS_H
#define SEEP_SNAPSHOTS_H

#include "view/sites/view.h"

struct snapshots_moment {
	const struct session *session;
	const struct process *process;
	uint64_t time_ns; /* since 1970 */
};

/*
 * Every process of every session is one moment; those of one process (by uuid)
 * form a series. By the start of the process, then by time; the caller frees
 * them. -ENOMEM; -ESRCH: no process has this pid.
 */
int snapshots_find(struct session *const *sessions, size_t count, uint32_t pid,
    struct snapshots_moment **ret, size_t *ret_count);

/* How many entries at the start of the list belong to one process. */
size_t snapshots_row(const struct snapshots_moment *list, size_t count);

#endif

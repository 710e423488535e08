/* growth.h - what grew between two moments of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GROWTH_H
#define SEEP_GROWTH_H

#include "view/sites/view.h"

struct growth_moment {
	double value;
	bool is_percent; /* of the recording, else seconds from its start */
};

enum { GROWTH_PROCESSES = 16 }; /* each reads the recording again */

/* A process at two moments. */
struct growth_stretch {
	const struct process *process;
	uint64_t from_us, to_us;
	struct process_figures *from, *to; /* by site */
	/* by process; NULL for those that are not selected */
	const struct process_figures **all_from, **all_to;
	const struct residence **pages_from, **pages_to; /* the same */
};

/*
 * The processes that ran in between, those with the largest changes first; for
 * free(). -ENOMEM; -ENODATA: no time line; -ERANGE: it begins after the end.
 */
int growth_stretches(const struct session *s, uint32_t pid, const struct growth_moment *from,
    const struct growth_moment *to, struct growth_stretch **ret, size_t *ret_count);

/*
 * The changes as a view for view_free(); the caller calls growth_release() for
 * x in any case.
 */
int growth_view(struct growth_stretch *x, const struct session *s, struct names *names,
    const struct view_options *options, struct view **ret);
void growth_release(struct growth_stretch *x);

#endif

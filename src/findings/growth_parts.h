/* growth_parts.h - what the text and the JSON of growth share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GROWTH_PARTS_H
#define SEEP_GROWTH_PARTS_H

#include "findings/growth.h"

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

/* The processes with the largest changes first; for free(). */
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

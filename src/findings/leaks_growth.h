/* leaks_growth.h - what grows in a process that runs, and who holds it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_GROWTH_H
#define SEEP_LEAKS_GROWTH_H

#include "names/find/names.h"
#include "findings/score_list.h"

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

#endif

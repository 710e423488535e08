/* diff.h - two inputs compared, site by site, with signs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DIFF_H
#define SEEP_DIFF_H

#include "view/sites/view.h"

/* One of the two. */
struct diff_side {
	const char *name; /* as the user calls it */
	const struct session *session;
	const struct process *only; /* NULL: all processes together */
};

/* How many processes with this pid (VIEW_ANY: all); the figures of all, and the last of them. */
size_t diff_add_up(const struct diff_side *side, uint32_t pid, struct view_figures *ret,
    const struct process **ret_last);

/* Does one of them have such a process? */
bool diff_has(const struct diff_side *old, const struct diff_side *new, uint32_t pid);

/*
 * Both sides as one view, for view_free(). Sites are matched by the names in
 * their stacks, not by ids or addresses, so that the sides may be different
 * runs or builds. -ENOMEM; -ESRCH: neither has a process options->pid.
 */
int diff_view(const struct diff_side *old, const struct diff_side *new, struct names *names,
    const struct view_options *options, struct view **ret);

#endif

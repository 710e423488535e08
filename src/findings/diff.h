/* diff.h - two inputs compared, site by site, with signs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DIFF_H
#define SEEP_DIFF_H

#include "print/text/body.h"

/* One of the two. */
struct diff_side {
	const char *name; /* as the user calls it */
	const struct session *session;
	const struct process *only; /* NULL: all processes together */
};

/*
 * Both sides as one view, for view_free(). Sites are matched by the names in
 * their stacks, not by ids or addresses, so that the sides may be different
 * runs or builds. -ENOMEM; -ESRCH: neither has a process options->pid.
 */
int diff_view(const struct diff_side *old, const struct diff_side *new, struct names *names,
    const struct view_options *options, struct view **ret);

/* As text. Errors as of diff_view(), and -EIO if ferror(). */
int diff_write(const struct layout *p, const struct diff_side *old, const struct diff_side *new,
    struct names *names, const struct body_options *options);

#endif

/* growth.h - what changed: between two inputs, two moments, or over all snapshots. */
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
	const struct rss_account **pages_from, **pages_to; /* the same */
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

/* ---- diff: two inputs compared, site by site, with signs ---- */

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

/* ---- snapshots: one process at several moments, by its snapshots ---- */

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

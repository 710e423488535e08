/* diff.c - two inputs compared, site by site, with signs. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/growth.h"

#include "base/std.h"
static bool is_meant(const struct diff_side *side, const struct process *p, uint32_t pid)
{
	return (!side->only || side->only == p) && (pid == VIEW_ANY || p->header.pid == pid);
}

/* The one program that all its processes run; NULL: they run several. */
static const char *program_of(const struct diff_side *side)
{
	const char *exe = NULL;

	for (size_t i = 0; i < side->session->count; i++) {
		const struct process *p = side->session->processes[i];

		if (!is_meant(side, p, VIEW_ANY))
			continue;
		if (exe && strcmp(exe, p->header.exe) != 0)
			return NULL;
		exe = p->header.exe;
	}
	return exe;
}

size_t diff_add_up(const struct diff_side *side, uint32_t pid, struct view_figures *ret,
    const struct process **ret_last)
{
	size_t n = 0;

	*ret = (struct view_figures){0};
	for (size_t i = 0; i < side->session->count; i++) {
		const struct process *p = side->session->processes[i];

		if (!is_meant(side, p, pid))
			continue;
		process_add(&ret->all, &p->totals);
		*ret_last = p;
		n++;
	}
	return n;
}

bool diff_has(const struct diff_side *old, const struct diff_side *new, uint32_t pid)
{
	const struct process *last;
	struct view_figures f;

	return diff_add_up(old, pid, &f, &last) + diff_add_up(new, pid, &f, &last) > 0;
}

int diff_view(const struct diff_side *old, const struct diff_side *new, struct names *names,
    const struct view_options *options, struct view **ret)
{
	struct view_options o = *options;
	const struct view_side before = {.session = old->session, .only = old->only};

	if (!diff_has(old, new, o.pid))
		return -ESRCH;
	o.only = new->only;
	o.before = &before;
	o.by_function = true;
	/*
	 * the same program for server-1.0 and server-1.1, but not for sh and ls
	 */
	o.join_programs = program_of(old) && program_of(new);
	return view_new(new->session, names, &o, ret);
}

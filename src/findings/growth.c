/* growth.c - shows what grew between two moments of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/growth.h"

#include "base/std.h"
#include "findings/rss_rules.h"
#include "kit/data/sorted.h"
#include "session/timeline/timeline.h"

static uint64_t moment_us(const struct growth_moment *m, uint64_t until_us)
{
	double us = m->is_percent ? m->value / 100 * (double)until_us : m->value * 1e6;

	/* seconds are made of whole microseconds: rounded, they are the same */
	return us + 0.5 >= (double)until_us ? until_us : (uint64_t)(us + 0.5);
}

void growth_release(struct growth_stretch *x)
{
	free(x->from);
	free(x->to);
	free(x->all_from);
	free(x->all_to);
	free(x->pages_from);
	free(x->pages_to);
}

/* The end is known without a replay. */
static int look_up(struct growth_stretch *x, struct timeline *t)
{
	const struct process *p = x->process;
	uint64_t when;
	int err;

	err = timeline_sites_at(t, p, x->from_us, x->from, &when);
	if (err == 0 && x->to_us < timeline_until_us(t))
		return timeline_sites_at(t, p, x->to_us, x->to, &when);
	for (size_t i = 0; i < p->site_count; i++)
		x->to[i] = p->sites[i].figures;
	return err;
}

int growth_view(struct growth_stretch *x, const struct session *s, struct names *names,
    const struct view_options *options, struct view **ret)
{
	struct view_options o = *options;
	struct view_side before = {.session = s, .only = x->process};
	size_t sites = x->process->site_count + 1;
	int err;

	x->from = calloc(sites, sizeof(*x->from));
	x->to = calloc(sites, sizeof(*x->to));
	x->all_from = calloc(s->count, sizeof(struct process_figures *));
	x->all_to = calloc(s->count, sizeof(struct process_figures *));
	x->pages_from = calloc(s->count, sizeof(struct rss_account *));
	x->pages_to = calloc(s->count, sizeof(struct rss_account *));
	if (!x->from || !x->to || !x->all_from || !x->all_to || !x->pages_from || !x->pages_to)
		return -ENOMEM;
	err = look_up(x, s->line);
	if (err < 0)
		return err;
	for (size_t i = 0; i < s->count; i++) {
		if (s->processes[i] != x->process)
			continue;
		x->all_from[i] = x->from;
		x->all_to[i] = x->to;
		x->pages_from[i] = rss_rules_at(s, x->process, x->from_us);
		x->pages_to[i] = rss_rules_at(s, x->process, x->to_us);
	}
	before.figures = x->all_from;
	before.rss_account = x->pages_from;
	o.rss_account = x->pages_to;
	o.only = x->process;
	o.figures = x->all_to;
	o.before = &before;
	return view_new(s, names, &o, ret);
}

/* Live bytes of a process at a moment, from its points. */
static uint64_t live_at(const struct process *p, uint64_t time_us)
{
	uint64_t live = 0;

	for (size_t i = 0; i < p->point_count; i++) {
		if (p->points[i].time_us > time_us)
			break;
		live = p->points[i].live_bytes;
	}
	return live;
}

/*
 * Sorts by change, the largest first; a process with one point only has none.
 */
struct candidate {
	const struct process *process;
	uint64_t change;
};

BY(by_change, struct candidate, DOWN(change) ?: UP(process->header.pid))

static size_t find_candidates(
    const struct session *s, uint32_t pid, uint64_t from_us, uint64_t to_us, struct candidate *list)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];
		uint64_t from, to;

		if ((s->count > 1 && p->point_count < 2) ||
		    (pid != VIEW_ANY && p->header.pid != pid))
			continue;
		from = live_at(p, from_us);
		to = live_at(p, to_us);
		list[n++] =
		    (struct candidate){.process = p, .change = to > from ? to - from : from - to};
	}
	qsort(list, n, sizeof(*list), by_change);
	return n;
}

int growth_stretches(const struct session *s, uint32_t pid, const struct growth_moment *from,
    const struct growth_moment *to, struct growth_stretch **ret, size_t *ret_count)
{
	struct candidate *list = calloc(s->count + 1, sizeof(*list));
	struct growth_stretch *found = calloc(s->count + 1, sizeof(*found));
	uint64_t from_us, to_us;
	size_t n = 0;
	int err = -ENOMEM;

	if (!list || !found)
		goto out;
	err = -ENODATA;
	if (!s->line)
		goto out;
	err = -ERANGE;
	if (!from->is_percent && from->value * 1e6 >= (double)s->until_us)
		goto out;
	from_us = moment_us(from, s->until_us);
	to_us = moment_us(to, s->until_us);
	n = find_candidates(s, pid, from_us, to_us, list);
	for (size_t i = 0; i < n; i++)
		found[i] = (struct growth_stretch){
		    .process = list[i].process, .from_us = from_us, .to_us = to_us};
	*ret = found;
	*ret_count = n;
	found = NULL;
	err = 0;
out:
	free(list);
	free(found);
	return err;
}

/* ---- diff: two inputs compared, site by site, with signs ---- */

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

/* ---- snapshots: shows one process at several moments, by its snapshots ---- */

/* When the state of a process was taken, since 1970. */
static uint64_t time_of(const struct process *p)
{
	if (p->header.snapshot_realtime_ns > 0)
		return p->header.snapshot_realtime_ns;
	return p->header.start_realtime_ns + p->duration_ns;
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct snapshots_moment *x = a, *y = b;
	const struct seg_header *h = &x->process->header;
	const struct seg_header *k = &y->process->header;
	int n;

	if (h->start_realtime_ns != k->start_realtime_ns)
		return h->start_realtime_ns < k->start_realtime_ns ? -1 : 1;
	n = memcmp(h->uuid, k->uuid, sizeof(h->uuid));
	if (n != 0)
		return n;
	/* the segment itself is later than its snapshots */
	if (x->process->is_snapshot != y->process->is_snapshot)
		return x->process->is_snapshot ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (h->snapshot_number > k->snapshot_number) -
	    (h->snapshot_number < k->snapshot_number);
}

int snapshots_find(struct session *const *sessions, size_t count, uint32_t pid,
    struct snapshots_moment **ret, size_t *ret_count)
{
	struct snapshots_moment *list;
	size_t room = 0, n = 0;

	for (size_t i = 0; i < count; i++)
		room += sessions[i]->count;
	list = calloc(room + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < sessions[i]->count; k++) {
			const struct process *p = sessions[i]->processes[k];

			if (pid != VIEW_ANY && p->header.pid != pid)
				continue;
			list[n++] = (struct snapshots_moment){
			    .session = sessions[i], .process = p, .time_ns = time_of(p)};
		}
	}
	if (n == 0) {
		free(list);
		return -ESRCH;
	}
	qsort(list, n, sizeof(*list), by_process_and_time);
	/* the clock of a segment ticks in tenths of a second */
	for (size_t i = 1; i < n; i++)
		if (list[i].time_ns < list[i - 1].time_ns && snapshots_row(&list[i - 1], 2) == 2)
			list[i].time_ns = list[i - 1].time_ns;
	*ret = list;
	*ret_count = n;
	return 0;
}

size_t snapshots_row(const struct snapshots_moment *list, size_t count)
{
	size_t n = 1;

	while (n < count &&
	    memcmp(list[0].process->header.uuid, list[n].process->header.uuid,
	        sizeof(list[0].process->header.uuid)) == 0)
		n++;
	return n;
}

/* growth.c - shows what grew between two moments of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/growth.h"

#include "base/std.h"
#include "session/timeline/timeline.h"
#include "findings/rss_rules.h"
#include "kit/data/sorted.h"

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

/* score_list.c - the sites of a process that leak, grow or are steady. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/score_list.h"

#include <math.h>

#include "host/proc/procfs_group.h"
#include "analysis/score/score.h"
#include "view/sites/verdict.h"
#include "format/cell.h"
#include "recording/parts/inventory.h"
#include "recording/parts/rss_account.h"

bool score_list_has(const struct session *s, struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		const struct score *x = scores_of(s, p, i);

		if (x && x->class != SCORE_CHURN)
			return true;
		if (!p->scores)
			break;
	}
	return false;
}

/* ---- when it ends ---- */

/* May the whole process have stayed as it is? Its time line knows. */
static bool may_be_zero(const struct process *p)
{
	struct slope_point *points;
	struct slope slope;
	bool known;

	if (p->point_count < SLOPE_MIN)
		return false;
	points = calloc(p->point_count, sizeof(*points));
	if (!points)
		return true;
	for (size_t i = 0; i < p->point_count; i++)
		points[i] = (struct slope_point){
		    (double)p->points[i].time_us * 1e-6, (double)p->points[i].live_bytes};
	known = slope_make(points, p->point_count, &slope);
	free(points);
	return known && !(slope.low > 0);
}

/* Resident, and neither heap nor ours. */
static double outside_of(const struct rss_account *r)
{
	static const enum rss_class list[] = {
	    RSS_STACKS, RSS_MODULES, RSS_ANONYMOUS, RSS_SHARED, RSS_FILES};
	double sum = 0;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		sum += (double)r->classes[list[i]];
	return sum;
}

static void look_outside(const struct process *p, struct score_list *l)
{
	size_t n = p->rss_account ? p->earlier_count + 1 : 0;
	struct slope_point *points;
	struct slope slope;

	if (n < SLOPE_MIN)
		return;
	points = calloc(n, sizeof(*points));
	if (!points)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct rss_account *r =
		    i < p->earlier_count ? &p->earlier[i] : p->rss_account;

		points[i] =
		    (struct slope_point){(double)r->time_ns * 1e-9 * scores_clock(), outside_of(r)};
	}
	if (slope_make(points, n, &slope) && slope.low > 0) {
		l->has_outside = true;
		l->outside = slope.middle * 3600;
	}
	free(points);
}

static void find_limit(struct score_list *l, const struct aging_limit *limits, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct aging_limit *x = &limits[i];
		double room = x->limit > x->used ? (double)(x->limit - x->used) : 0;
		struct forecast f;

		if (!score_list_limit_key(x->kind) || !forecast_make(&l->rate, room, &f))
			continue;
		if (l->limit.kind && f.hours >= l->forecast.hours)
			continue;
		l->limit = *x;
		l->forecast = f;
	}
}

/* Every granule of the heap has a cell, except in a sampled process. */
static double map_share(const struct seg_header *h)
{
	if (h->sample_bytes > 0 || h->live_root == 0 ||
	    (h->live_granule_bits != CELL_GRANULE_GLIBC &&
	        h->live_granule_bits != CELL_GRANULE_OTHER))
		return 0;
	return (double)sizeof(uint64_t) / (1 << h->live_granule_bits);
}

/* The room is that of now, or of the moment when a recorder looked. */
void score_list_look_ahead(const struct session *s, struct process *p, struct score_list *l)
{
	struct aging_limit limits[AGING_LIMITS];

	l->rate.seen_s = scores_until_s(p);
	l->rate.map_share = map_share(&p->header);
	look_outside(p, l);
	for (size_t i = 0; i < p->site_count; i++) {
		const struct score *x = scores_of(s, p, i);

		if (x)
			forecast_add(&l->rate, x);
	}
	if (!(l->rate.low > 0) || may_be_zero(p))
		return;
	if (p->running_pid > 0)
		find_limit(l, limits, limits_read(p->running_pid, limits));
	else if (p->aging && p->end == PROCESS_RUNNING)
		find_limit(l, p->aging->limits, p->aging->limit_count);
}

const char *score_list_limit_key(uint32_t kind)
{
	static const char *const keys[] = {[AGING_LIMIT_GROUP] = "cgroup_max",
	    [AGING_LIMIT_GROUP_HIGH] = "cgroup_high",
	    [AGING_LIMIT_SPACE] = "address_space",
	    [AGING_LIMIT_DATA] = "data",
	    [AGING_LIMIT_MACHINE] = "machine"};

	return kind < sizeof(keys) / sizeof(keys[0]) ? keys[kind] : NULL;
}

const char *score_list_limit_words(uint32_t kind)
{
	switch (kind) {
	case AGING_LIMIT_GROUP:
		return "Limit of the container";
	case AGING_LIMIT_GROUP_HIGH:
		return "memory.high of the container";
	case AGING_LIMIT_SPACE:
		return "Limit of the address space (ulimit -v)";
	case AGING_LIMIT_DATA:
		return "Limit of data (ulimit -d)";
	default:
		return "Memory of the machine";
	}
}

/* ---- the list ---- */

static int worse(const void *a, const void *b)
{
	const struct score_line *x = a, *y = b;

	if (x->score->class != y->score->class)
		return x->score->class < y->score->class ? -1 : 1;
	if (x->score->class != SCORE_STEADY && fabs(x->score->rate - y->score->rate) > 0)
		return x->score->rate > y->score->rate ? -1 : 1;
	if (x->site->figures.all.live_bytes != y->site->figures.all.live_bytes)
		return x->site->figures.all.live_bytes > y->site->figures.all.live_bytes ? -1 : 1;
	return (x->site->id > y->site->id) - (x->site->id < y->site->id);
}

static void add_line(struct score_list *l, const struct view_site *s)
{
	if (!s->score || s->score->class == SCORE_CHURN || s->suppression ||
	    (s->verdict && s->verdict->leak.looks > 0))
		return;
	l->leaks += s->score->class == SCORE_LEAK;
	l->growths += s->score->class == SCORE_GROWTH;
	l->lines[l->count++] = (struct score_line){.site = s, .score = s->score};
}

/* Who held what grows, at the last look of a recorder. */
static int add_held(struct score_list *l, const struct inventory *v)
{
	for (size_t i = 0; i < l->count; i++) {
		struct score_line *x = &l->lines[i];
		const struct inventory_site *found = inventory_find(v, x->site->id);

		if (x->score->class != SCORE_GROWTH || !found || !found->held)
			continue;
		x->held = strdup(found->held);
		if (!x->held)
			return -ENOMEM;
	}
	return 0;
}

int score_list_of_view(
    const struct view *v, uint32_t process, struct process *p, struct score_list *ret)
{
	*ret = (struct score_list){.view = v};
	ret->lines = calloc(v->site_count + 1, sizeof(*ret->lines));
	if (!ret->lines)
		return -ENOMEM;
	for (size_t i = 0; i < v->site_count; i++)
		if (v->sites[i].process == process)
			add_line(ret, &v->sites[i]);
	if (ret->count > 0)
		qsort(ret->lines, ret->count, sizeof(*ret->lines), worse);
	if (p->inventory && add_held(ret, p->inventory) < 0) {
		score_list_release(ret);
		return -ENOMEM;
	}
	score_list_look_ahead(v->session, p, ret);
	return 0;
}

/* The number of a process in its session. */
static uint32_t number_of(const struct session *s, const struct process *p)
{
	uint32_t i = 0;

	while (i < s->count && s->processes[i] != p)
		i++;
	return i;
}

int score_list_make(const struct session *s, struct process *p, struct names *names,
    const struct view_options *options, struct score_list *ret)
{
	struct view_options o = *options;
	struct view *v = NULL;
	int err;

	*ret = (struct score_list){0};
	if (!score_list_has(s, p))
		return 0;
	o.only = p;
	o.pid = VIEW_ANY;
	o.score_only = true;
	o.metric = VIEW_ALL;
	o.figures = NULL;
	o.older = NULL;
	o.before = NULL;
	o.merge = false;
	o.group = true;
	o.keep_suppressed = true;
	o.brief_names = true;
	err = view_new(s, names, &o, &v);
	if (err == 0)
		err = score_list_of_view(v, number_of(s, p), p, ret);
	if (err < 0)
		view_free(v);
	else
		ret->own = v;
	return err;
}

void score_list_release(struct score_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->lines[i].held);
	view_free(l->own);
	free(l->lines);
	*l = (struct score_list){0};
}

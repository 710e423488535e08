/* verdict_list.c - verdicts with the stacks they are about, and their rates. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/capped.h"

enum {
	RATE_BLOCKS = 8,    /* so many at least, for a rate */
	RATE_SECONDS = 60,  /* and over so long a time */
	RATE_STILL_PART = 4 /* the last is as young as this part of it */
};

/* ---- rates ---------------------------------------------------------------- */

/* Bounds of the mean, where n were counted (Wilson and Hilferty's). */
static double
poisson_low(double n)
{
	return n * pow(1 - 1 / (9 * n) - 1.96 / (3 * sqrt(n)), 3);
}

static double
poisson_high(double n)
{
	n++;
	return n * pow(1 - 1 / (9 * n) + 1.96 / (3 * sqrt(n)), 3);
}

void
verdict_rate(const struct seg_header *h, const struct verdicts *v,
    const struct verdict_site *site, struct verdict_rate *ret)
{
	double first, last, end, span, scale, n = (double)site->blocks;

	*ret = (struct verdict_rate){0};
	if (site->site < h->first_id || site->blocks < RATE_BLOCKS)
		return; /* of a parent, on another clock; or too few */
	first = (double)site->first_birth * h->tick_ns / 1e9;
	last = (double)site->last_birth * h->tick_ns / 1e9;
	end = (double)v->begin_ns / 1e9; /* what is younger was not judged */
	span = end - first;
	if (span < RATE_SECONDS || end - last > span / RATE_STILL_PART)
		return;
	scale = (double)site->bytes / n * 3600 / span;
	*ret = (struct verdict_rate){.is_known = true,
	    .bytes = n * scale,
	    .low = poisson_low(n) * scale,
	    .high = poisson_high(n) * scale};
}

/* ---- whose site it is ----------------------------------------------------- */

static const struct process *
parent_of(const struct session *s, const struct process *p)
{
	static const uint8_t none[16];

	if (memcmp(p->header.parent_uuid, none, sizeof(none)) == 0)
		return NULL;
	for (size_t i = 0; i < s->count; i++)
		if (memcmp(s->processes[i]->header.uuid, p->header.parent_uuid,
		        sizeof(none)) == 0 &&
		    s->processes[i] != p)
			return s->processes[i];
	return NULL;
}

/* The process that has given a site its id; NULL: it is not there. */
static const struct process *
owner_of(const struct session *s, const struct process *p, uint32_t site)
{
	enum { GENERATIONS_MAX = 64 }; /* a session may be made up */

	for (int i = 0; p && i < GENERATIONS_MAX; i++) {
		if (site >= p->header.first_id)
			return p;
		p = parent_of(s, p);
	}
	return NULL;
}

static size_t
number_of(const struct session *s, const struct process *p)
{
	size_t i = 0;

	while (i < s->count && s->processes[i] != p)
		i++;
	return i;
}

static int
by_id(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct process_id *)item)->id;

	return (a > b) - (a < b);
}

/* Of process number n: which of its sites; SIZE_MAX: none. */
static size_t
site_of(const struct process *p, uint32_t id)
{
	const struct process_id *found =
	    bsearch(&id, p->ids, p->id_count, sizeof(*p->ids), by_id);

	return found ? found->site : SIZE_MAX;
}

/* ---- the list ------------------------------------------------------------- */

void
verdict_list_free(struct verdict_list *l)
{
	if (!l)
		return;
	for (size_t i = 0; l->figures && l->figures[i]; i++)
		free(l->figures[i]);
	free(l->figures);
	view_free(l->view);
	free(l->at);
	free(l);
}

/* What the view shall take for live: the blocks that the verdicts are about. */
static int
fill_figures(
    struct verdict_list *l, const struct session *s, const struct verdicts *v)
{
	l->figures = calloc(s->count + 1, sizeof(*l->figures));
	if (!l->figures)
		return -ENOMEM;
	for (size_t i = 0; i < s->count; i++) {
		l->figures[i] = calloc(
		    s->processes[i]->site_count + 1, sizeof(**l->figures));
		if (!l->figures[i])
			return -ENOMEM;
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *x = &v->sites[i];
		const struct process *p = owner_of(s, l->process, x->site);
		size_t n = p ? site_of(p, x->site) : SIZE_MAX;
		struct process_figures *f;

		if (n == SIZE_MAX)
			continue;
		f = &l->figures[number_of(s, p)][n];
		f->live_blocks = capped_sum(
		    f->live_blocks, x->blocks ? x->blocks : x->freed_late);
		f->live_bytes = capped_sum(f->live_bytes, x->bytes);
		f->allocations = f->live_blocks;
		f->allocated_bytes = f->live_bytes;
	}
	return 0;
}

static const struct view_site *
find_site(const struct view *v, size_t process, size_t site)
{
	for (size_t i = 0; i < v->site_count; i++)
		if (v->sites[i].process == process && v->sites[i].site == site)
			return &v->sites[i];
	return NULL;
}

static void
add_sum(struct verdict_sum *to, const struct verdict_site *x)
{
	to->sites++;
	to->blocks = capped_sum(to->blocks, x->blocks);
	to->bytes = capped_sum(to->bytes, x->bytes);
}

static int
add_entries(
    struct verdict_list *l, const struct session *s, const struct verdicts *v)
{
	l->at = calloc(v->count + 1, sizeof(*l->at));
	if (!l->at)
		return -ENOMEM;
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *x = &v->sites[i];
		struct verdict_entry e = {.verdict = x,
		    .process = owner_of(s, l->process, x->site),
		    .is_inherited = x->site < l->process->header.first_id};
		size_t n = e.process ? site_of(e.process, x->site) : SIZE_MAX;

		if (n != SIZE_MAX) {
			e.site = find_site(l->view, number_of(s, e.process), n);
			if (!e.site) {
				add_sum(&l->left_out, x);
				continue;
			}
		}
		verdict_rate(&l->process->header, v, x, &e.rate);
		add_sum(x->class == VERDICT_LEAK ? &l->leaks : &l->possible, x);
		l->at[l->count++] = e;
	}
	return 0;
}

int
verdict_list_new(const struct session *s, const struct process *process,
    const struct verdicts *v, struct names *names,
    const struct view_options *options, struct verdict_list **ret)
{
	struct verdict_list *l = calloc(1, sizeof(*l));
	struct view_options o = *options;
	int err;

	if (!l)
		return -ENOMEM;
	l->process = process;
	l->verdicts = v;
	err = fill_figures(l, s, v);
	if (err == 0) {
		o.metric = VIEW_LIVE;
		o.figures = (const struct process_figures *const *)l->figures;
		err = view_new(s, names, &o, &l->view);
	}
	if (err == 0)
		err = add_entries(l, s, v);
	if (err < 0) {
		verdict_list_free(l);
		return err;
	}
	*ret = l;
	return 0;
}

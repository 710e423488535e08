/* view_figures.c - the figures of a site, by metric. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/view.h"

#include "view/sites/ages.h"
#include "view/sites/older.h"
#include "view/sites/view_parts.h"
#include "recording/parts/rss_account.h"
#include "kit/data/capped.h"

uint32_t view_temporary_ticks(const struct session *s, const struct process *only, uint32_t pid)
{
	uint32_t most = 0, idle = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];
		/*
		 * a process that was not traced, or had no events, does not
		 * matter
		 */
		uint32_t *which = p->site_count > 0 ? &most : &idle;

		if ((!only || only == p) && (pid == VIEW_ANY || p->header.pid == pid) &&
		    p->temporary_ticks > *which)
			*which = p->temporary_ticks;
	}
	return most > 0 ? most : idle;
}

/* The young deaths below the view's limit. */
static uint64_t temporary_of(
    const struct view *v, const struct process *p, const struct process_site *s, uint64_t young)
{
	uint64_t steps[PROCESS_STEPS], sum = 0;

	if (p->temporary_ticks == 0)
		return 0;
	if (v->temporary_ticks >= SEG_YOUNG_TICKS)
		return young;
	process_young(s->ages, young, steps);
	for (int i = 0; i < PROCESS_STEPS && 1u << i <= v->temporary_ticks; i++)
		sum += steps[i];
	return sum;
}

/* The resident pages that the site keeps, if somebody has looked. */
static void add_holds(
    const struct view_builder *b, size_t process, uint32_t id, struct view_figures *f)
{
	const struct rss_account *r = b->side.session->processes[process]->rss_account;
	const struct rss_site *s;

	if (b->side.rss_account)
		r = b->side.rss_account[process];
	s = r ? rss_account_find(r, id) : NULL;
	if (!s)
		return;
	f->holds_bytes = s->holds;
	f->held_bytes = s->live;
}

struct view_figures view_figures_of(const struct view_builder *b, size_t process, size_t site)
{
	const struct process *p = b->side.session->processes[process];
	const struct process_site *s = &p->sites[site];
	uint64_t deaths[PROCESS_AGES];
	struct view_figures f = {.all = s->figures,
	    .variance_live = s->variance_live,
	    .variance_allocated = s->variance_allocated};

	add_holds(b, process, s->id, &f);
	process_deaths(s, deaths);
	f.young_blocks = deaths[0];
	f.temporary_blocks = temporary_of(b->view, p, s, deaths[0]);
	f.temporary_bytes = s->figures.freed_bytes;
	if (f.temporary_blocks < s->figures.frees) {
		double part = (double)f.temporary_bytes *
		    ((double)f.temporary_blocks / (double)s->figures.frees);

		/* near 2^64 it may have been rounded up to it */
		if (part < (double)f.temporary_bytes)
			f.temporary_bytes = (uint64_t)part;
	}
	if (b->options->within && !b->is_before) {
		const struct lifetimes_site *x = lifetimes_site(b->options->within, process, site);

		f.temporary_blocks = x->within_blocks;
		f.temporary_bytes = x->within_bytes;
	}
	if (b->options->older && !b->is_before) {
		const struct older_site *old = older_site(b->options->older, process, site);

		f.older_blocks = old->blocks;
		f.older_bytes = old->bytes;
		f.older_unknown_blocks = old->unknown_blocks;
		f.older_unknown_bytes = old->unknown_bytes;
	}
	if (!b->side.figures)
		return f;
	f.all = b->side.figures[process][site];
	/* of blocks like those of the whole run */
	if (s->figures.allocated_bytes > 0)
		f.variance_live = f.variance_allocated *
		    ((double)f.all.live_bytes / (double)s->figures.allocated_bytes);
	return f;
}

void view_add(struct view_figures *to, const struct view_figures *from)
{
	process_add(&to->all, &from->all);
	to->young_blocks = capped_sum(to->young_blocks, from->young_blocks);
	to->temporary_blocks = capped_sum(to->temporary_blocks, from->temporary_blocks);
	to->temporary_bytes = capped_sum(to->temporary_bytes, from->temporary_bytes);
	to->variance_live += from->variance_live;
	to->variance_allocated += from->variance_allocated;
	to->older_blocks = capped_sum(to->older_blocks, from->older_blocks);
	to->older_bytes = capped_sum(to->older_bytes, from->older_bytes);
	to->older_unknown_blocks = capped_sum(to->older_unknown_blocks, from->older_unknown_blocks);
	to->older_unknown_bytes = capped_sum(to->older_unknown_bytes, from->older_unknown_bytes);
	to->holds_bytes = capped_sum(to->holds_bytes, from->holds_bytes);
	to->held_bytes = capped_sum(to->held_bytes, from->held_bytes);
}

uint64_t view_bytes(const struct view_figures *f, int metric)
{
	switch (metric) {
	case VIEW_LIVE:
		return f->all.live_bytes;
	case VIEW_PEAK:
		return f->all.peak_bytes;
	case VIEW_TEMPORARY:
		return f->temporary_bytes;
	default:
		return f->all.allocated_bytes;
	}
}

uint64_t view_blocks(const struct view_figures *f, int metric)
{
	switch (metric) {
	case VIEW_LIVE:
		return f->all.live_blocks;
	case VIEW_PEAK:
		return f->all.peak_blocks;
	case VIEW_TEMPORARY:
		return f->temporary_blocks;
	default:
		return f->all.allocations;
	}
}

uint64_t view_pins(const struct view_figures *f)
{
	return capped_difference(f->holds_bytes, f->held_bytes);
}

double view_variance(const struct view_figures *f, int metric)
{
	double bytes = (double)view_bytes(f, metric);
	double all = (double)f->all.allocated_bytes;

	if (metric == VIEW_LIVE)
		return f->variance_live;
	/*
	 * variances add up block by block, so a part of the blocks has its
	 * share
	 */
	if (all > 0 && bytes < all)
		return f->variance_allocated * (bytes / all);
	return f->variance_allocated;
}

/* older.c - of what lives, the blocks that are older than some age. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/older.h"

#include <errno.h>
#include <stdlib.h>

#include "reader/living.h"
#include "report/ages.h"
#include "report/words.h"

/* One process: what is known of its blocks. */
struct item {
	const struct process *process;
	struct process_figures *figures; /* by site */
	uint64_t age_ns;                 /* what they are older than */
	struct process_figures unknown;
	uint64_t unknown_sites;
	bool is_exact;  /* it runs: to a tick */
	bool is_shared; /* bytes are shared out among blocks of one site */
};

struct older {
	uint64_t age_ns; /* as asked for */
	struct item *items;
	const struct process_figures **figures; /* of the items */
	size_t count;
};

/* The last step that begins no later; 0: the first. */
static int
step_of(uint64_t age_ns)
{
	int i = 0;

	while (i + 1 < PROCESS_AGES && ages_bound_ns(i + 1) <= age_ns)
		i++;
	return i;
}

/* Sets what lives to `some` of `all` blocks that were looked at. */
static void
take_part(struct item *x, struct process_figures *f,
    const struct process_site *site, uint64_t some, uint64_t all)
{
	double part = all > 0 ? (double)some / (double)all : 0;
	bool is_one_size = site->size_min == site->size_max &&
	    site->size_max > 0 && site->samples == 0;

	if (some >= all)
		return;
	f->live_blocks = all == f->live_blocks
	    ? some
	    : (uint64_t)((double)f->live_blocks * part + 0.5);
	if (is_one_size)
		f->live_bytes = f->live_blocks * site->size_max;
	else
		f->live_bytes = (uint64_t)((double)f->live_bytes * part);
	x->is_shared |= some > 0 && !is_one_size;
}

/* By counts of blocks by age. */
static void
count_steps(
    struct item *x, struct process_figures *f, const struct process_site *site)
{
	uint64_t all = 0, some = 0;

	for (int i = 0; i < PROCESS_AGES; i++) {
		all += site->ages->living[i];
		if (ages_bound_ns(i) >= x->age_ns)
			some += site->ages->living[i];
	}
	take_part(x, f, site, some, all);
}

/*
 * By the first and the last allocation: then the youngest and the oldest are
 * known. realloc keeps the birth of a block, so there the oldest is not.
 */
static void
judge_span(
    struct item *x, struct process_figures *f, const struct process_site *site)
{
	const struct process *p = x->process;
	uint64_t now = p->header.start_realtime_ns + p->duration_ns;
	uint64_t first = process_time_ns(p, site->first_tick);
	uint64_t last = process_time_ns(p, site->last_tick);
	bool moves =
	    site->api == SEG_API_REALLOC || site->api == SEG_API_REALLOCARRAY;

	if (now >= last + x->age_ns)
		return; /* all of them */
	if (moves || now >= first + x->age_ns) {
		process_add(&x->unknown, f);
		x->unknown_sites++;
	}
	f->live_blocks = f->live_bytes = 0;
}

static int
look_at(struct item *x)
{
	const struct process *p = x->process;
	struct living_old *old = calloc(p->site_count + 1, sizeof(*old));
	uint32_t ticks = 0;
	int err = 0;

	x->figures = calloc(p->site_count + 1, sizeof(*x->figures));
	if (!x->figures || !old) {
		free(old);
		return -ENOMEM;
	}
	if (p->header.tick_ns > 0)
		ticks = (uint32_t)((x->age_ns + p->header.tick_ns - 1) /
		    p->header.tick_ns);
	x->is_exact = p->end == PROCESS_RUNNING && !p->is_snapshot &&
	    living_older(p, ticks, old) == 0;
	if (!x->is_exact)
		x->age_ns = ages_bound_ns(step_of(x->age_ns));
	for (size_t i = 0; i < p->site_count; i++) {
		const struct process_site *site = &p->sites[i];
		struct process_figures *f = &x->figures[i];

		*f = site->figures;
		if (site->kind == SEG_SITE_USER || f->live_blocks == 0)
			continue;
		if (x->is_exact && site->samples == 0) {
			f->live_blocks = old[i].blocks;
			f->live_bytes = old[i].bytes;
		} else if (x->is_exact) {
			take_part(x, f, site, old[i].blocks, old[i].all_blocks);
		} else if (site->ages && site->ages->living_known) {
			count_steps(x, f, site);
		} else {
			judge_span(x, f, site);
		}
	}
	free(old);
	return err;
}

int
older_new(const struct session *s, uint64_t age_ns, struct older **ret)
{
	struct older *o = calloc(1, sizeof(*o));
	int err = -ENOMEM;

	if (!o)
		return err;
	o->age_ns = age_ns;
	o->items = calloc(s->count + 1, sizeof(*o->items));
	o->figures = calloc(s->count + 1, sizeof(struct process_figures *));
	if (!o->items || !o->figures)
		goto out;
	err = 0;
	for (size_t i = 0; i < s->count && err == 0; i++) {
		struct item *x = &o->items[o->count++];

		*x =
		    (struct item){.process = s->processes[i], .age_ns = age_ns};
		err = look_at(x);
		o->figures[i] = x->figures;
		if (err == 0 && age_ns > 0 && x->age_ns == 0)
			err = -ERANGE;
	}
	if (err < 0)
		goto out;
	*ret = o;
	o = NULL;
out:
	older_free(o);
	return err;
}

void
older_free(struct older *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->count; i++)
		free(o->items[i].figures);
	free(o->items);
	free(o->figures);
	free(o);
}

const struct process_figures *const *
older_figures(const struct older *o)
{
	return o->figures;
}

/* Why not at the age that was asked for, and what is not known at all. */
static void
print_remarks(const struct page *p, const struct older *o,
    const struct item *all, bool is_exact)
{
	char a[WORDS_MAX], b[WORDS_COUNTED], c[WORDS_COUNTED];
	struct page_text t;

	page_begin(p, &t);
	if (!is_exact && all->age_ns < o->age_ns)
		(void)fprintf(t.file,
		    "Ages of a process that has ended are known in steps: %s "
		    "is within one that begins at %s.\n",
		    words_time(a, o->age_ns), words_time(b, all->age_ns));
	if (all->is_shared)
		(void)fputs("Bytes are shared out by blocks where a site has "
		            "several sizes.\n",
		    t.file);
	if (all->unknown_sites > 0)
		(void)fprintf(t.file,
		    "Not shown, because nobody counted %s ages: %s in %s.\n",
		    all->unknown_sites == 1 ? "its" : "their",
		    words_counted(b, all->unknown.live_bytes, "byte"),
		    words_counted(c, all->unknown_sites, "site"));
	page_end(p, &t);
}

void
older_write(const struct page *p, const struct older *o,
    const struct process *process, const struct process_figures *shown)
{
	struct item all = {.age_ns = UINT64_MAX};
	char a[WORDS_MAX], b[WORDS_COUNTED], c[WORDS_COUNTED];
	bool is_exact = true;
	struct page_text t;

	for (size_t i = 0; i < o->count; i++) {
		const struct item *x = &o->items[i];

		if (process && x->process != process)
			continue;
		process_add(&all.unknown, &x->unknown);
		all.unknown_sites += x->unknown_sites;
		all.is_shared |= x->is_shared;
		is_exact &= x->is_exact;
		if (x->age_ns < all.age_ns)
			all.age_ns = x->age_ns;
	}
	page_begin(p, &t);
	(void)fprintf(t.file, "Older than %s: %s in %s.\n",
	    words_time(a, all.age_ns),
	    words_counted(b, shown->live_bytes, "byte"),
	    words_counted(c, shown->live_blocks, "block"));
	page_end(p, &t);
	print_remarks(p, o, &all, is_exact);
}

/* older.c - selects live blocks above some age. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/older.h"

#include "session/process/live_ages.h"
#include "view/sites/ages.h"
#include "view/sites/enum_words.h"

/* One process: what is known of its blocks. */
struct item {
	const struct process *process;
	struct process_figures *figures; /* by site */
	struct older_site *sites;        /* by site */
	uint64_t age_ns;                 /* the age that was used */
	uint64_t unknown_sites;
	bool is_exact;  /* it is running: exact to a tick */
	bool is_early;  /* a snapshot, and the age is below the first step */
	bool is_shared; /* bytes are shared out among blocks of one site */
};

struct older {
	uint64_t age_ns; /* as given by the user */
	struct item *items;
	const struct process_figures **figures; /* of the items */
	size_t count;
};

/* The last step that begins at or below this age; 0: the first. */
static int step_of(uint64_t age_ns)
{
	int i = 0;

	while (i + 1 < PROCESS_AGES && ages_bound_ns(i + 1) <= age_ns)
		i++;
	return i;
}

/* Reduces the live figures to `some` of the `all` blocks that were counted. */
static void take_part(struct item *x, struct process_figures *f, const struct process_site *site,
    uint64_t some, uint64_t all)
{
	double part = all > 0 ? (double)some / (double)all : 0;
	bool is_one_size =
	    site->size_min == site->size_max && site->size_max > 0 && site->samples == 0;

	if (some >= all)
		return;
	f->live_blocks =
	    all == f->live_blocks ? some : (uint64_t)((double)f->live_blocks * part + 0.5);
	if (is_one_size)
		f->live_bytes = f->live_blocks * site->size_max;
	else
		f->live_bytes = (uint64_t)((double)f->live_bytes * part);
	x->is_shared |= some > 0 && !is_one_size;
}

/* Uses counts of blocks by age. */
static void count_steps(struct item *x, struct process_figures *f, const struct process_site *site)
{
	uint64_t all = 0, some = 0;

	for (int i = 0; i < PROCESS_AGES; i++) {
		all += site->ages->living[i];
		if (ages_bound_ns(i) >= x->age_ns)
			some += site->ages->living[i];
	}
	take_part(x, f, site, some, all);
}

static void put_unknown(
    struct item *x, const struct process_figures *f, const struct process_site *site)
{
	struct older_site *to = &x->sites[site - x->process->sites];

	to->unknown_blocks = f->live_blocks;
	to->unknown_bytes = f->live_bytes;
	x->unknown_sites++;
}

/*
 * Uses the first and the last allocation, which bound the ages of the youngest
 * and the oldest block. realloc keeps the birth of a block, so for realloc the
 * oldest is not known.
 */
static void judge_span(struct item *x, struct process_figures *f, const struct process_site *site)
{
	const struct process *p = x->process;
	uint64_t now = p->header.start_realtime_ns + p->duration_ns;
	uint64_t first = process_time_ns(p, site->first_tick);
	uint64_t last = process_time_ns(p, site->last_tick);
	bool moves = site->api == SEG_API_REALLOC || site->api == SEG_API_REALLOCARRAY;

	if (now >= last + x->age_ns)
		return; /* all of them */
	if (moves || now >= first + x->age_ns)
		put_unknown(x, f, site);
	f->live_blocks = f->live_bytes = 0;
}

/* One site of the heap that has live blocks. */
static void look_at_site(struct item *x, size_t number, const struct live_ages_old *old)
{
	const struct process_site *site = &x->process->sites[number];
	struct process_figures *f = &x->figures[number];

	if (x->is_early) {
		put_unknown(x, f, site);
		f->live_blocks = f->live_bytes = 0;
	} else if (x->is_exact && site->samples == 0) {
		f->live_blocks = old->blocks;
		f->live_bytes = old->bytes;
	} else if (x->is_exact) {
		take_part(x, f, site, old->blocks, old->all_blocks);
	} else if (site->ages && site->ages->live_ages_known) {
		count_steps(x, f, site);
	} else {
		judge_span(x, f, site);
	}
	x->sites[number].blocks = f->live_blocks;
	x->sites[number].bytes = f->live_bytes;
}

static int look_at(struct item *x)
{
	const struct process *p = x->process;
	struct live_ages_old *old = calloc(p->site_count + 1, sizeof(*old));
	uint32_t ticks = 0;

	x->figures = calloc(p->site_count + 1, sizeof(*x->figures));
	x->sites = calloc(p->site_count + 1, sizeof(*x->sites));
	if (!x->figures || !x->sites || !old) {
		free(old);
		return -ENOMEM;
	}
	if (p->header.tick_ns > 0)
		ticks = (uint32_t)((x->age_ns + p->header.tick_ns - 1) / p->header.tick_ns);
	x->is_exact =
	    p->end == PROCESS_RUNNING && !p->is_snapshot && live_ages_older(p, ticks, old) == 0;
	x->is_early = p->is_snapshot && step_of(x->age_ns) == 0;
	if (!x->is_exact && !x->is_early)
		x->age_ns = ages_bound_ns(step_of(x->age_ns));
	for (size_t i = 0; i < p->site_count; i++) {
		x->figures[i] = p->sites[i].figures;
		if (seg_is_heap(p->sites[i].kind) && x->figures[i].live_blocks > 0)
			look_at_site(x, i, &old[i]);
	}
	free(old);
	return 0;
}

int older_new(const struct session *s, uint64_t age_ns, struct older **ret)
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

		*x = (struct item){.process = s->processes[i], .age_ns = age_ns};
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

void older_free(struct older *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->count; i++) {
		free(o->items[i].figures);
		free(o->items[i].sites);
	}
	free(o->items);
	free(o->figures);
	free(o);
}

const struct process_figures *const *older_figures(const struct older *o)
{
	return o->figures;
}

const struct older_site *older_site(const struct older *o, size_t process, size_t site)
{
	return &o->items[process].sites[site];
}

static void add(uint64_t *to, uint64_t n)
{
	*to = *to > UINT64_MAX - n ? UINT64_MAX : *to + n;
}

static void add_item(struct older_about *to, const struct item *x)
{
	const struct process *p = x->process;

	for (size_t i = 0; i < p->site_count; i++) {
		add(&to->sum.blocks, x->sites[i].blocks);
		add(&to->sum.bytes, x->sites[i].bytes);
		add(&to->sum.unknown_blocks, x->sites[i].unknown_blocks);
		add(&to->sum.unknown_bytes, x->sites[i].unknown_bytes);
	}
	to->unknown_sites += x->unknown_sites;
	to->is_shared |= x->is_shared;
	to->is_sampled |= p->header.sample_bytes > 0;
	to->is_exact &= x->is_exact;
	if (x->age_ns < to->age_ns)
		to->age_ns = x->age_ns;
}

void older_about(const struct older *o, const struct process *process, struct older_about *ret)
{
	*ret = (struct older_about){.asked_ns = o->age_ns, .age_ns = UINT64_MAX, .is_exact = true};
	for (size_t i = 0; i < o->count; i++)
		if (!process || o->items[i].process == process)
			add_item(ret, &o->items[i]);
	if (ret->age_ns == UINT64_MAX)
		ret->age_ns = o->age_ns; /* no process at all */
}

void older_remarks(FILE *out, const struct older_about *a)
{
	if (!a->is_exact && a->age_ns < a->asked_ns)
		(void)fprintf(out,
		    "Ages of a process that has ended are known in steps: %s "
		    "is within one that begins at %s.\n",
		    WORDS_TIME(a->asked_ns), WORDS_TIME(a->age_ns));
	if (a->is_sampled)
		(void)fputs("Blocks of a sampled process are estimates, from "
		            "the ages of those that were sampled.\n",
		    out);
	if (a->is_shared)
		(void)fputs("If a site has several sizes, its bytes are estimated by "
		            "the number of blocks.\n",
		    out);
	if (a->unknown_sites > 0)
		(void)fprintf(out, "Not shown, because %s ages were not counted: %s in %s.\n",
		    a->unknown_sites == 1 ? "its" : "their",
		    WORDS_COUNTED(a->sum.unknown_bytes, "byte"),
		    WORDS_COUNTED(a->unknown_sites, "site"));
}

/* verdict_list.c - verdicts with the stacks they are about, and their rates. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict_list.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "reader/family.h"
#include "util/capped.h"
#include "util/dict.h"

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

/* The process that has given a site its id; NULL: it is not there. */
static const struct process *
owner_of(const struct session *s, const struct process *p, uint32_t site)
{
	enum { GENERATIONS_MAX = 64 }; /* a session may be made up */

	for (int i = 0; p && i < GENERATIONS_MAX; i++) {
		if (site >= p->header.first_id)
			return p;
		p = family_parent(s, p);
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
	l->figures = calloc(s->count + 1, sizeof(struct process_figures *));
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

		f = n != SIZE_MAX ? l->figures[number_of(s, p)] : NULL;
		if (!f)
			continue;
		f += n;
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
	size_t low = 0, high = v->site_count;

	/* by process, then by id, which is the order of sites, too */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct view_site *x = &v->sites[mid];

		if (x->process < process ||
		    (x->process == process && x->site < site))
			low = mid + 1;
		else
			high = mid;
	}
	if (low < v->site_count && v->sites[low].process == process &&
	    v->sites[low].site == site)
		return &v->sites[low];
	return NULL;
}

static void
add_sum(struct verdict_sum *to, const struct verdict_site *x)
{
	to->sites++;
	to->blocks = capped_sum(to->blocks, x->blocks);
	to->bytes = capped_sum(to->bytes, x->bytes);
}

/* ---- sites that look the same --------------------------------------------- */

struct entries {
	const struct verdict_list *list;
	struct dict find;
};

/* Do two sites have the same functions and lines, whatever the address? */
static bool
looks_same(const void *items, uint32_t item, const void *key)
{
	const struct entries *x = items;
	const struct verdict_entry *a = &x->list->at[item], *b = key;
	const struct frame *frames = x->list->view->frames;

	if (a->sum.class != b->sum.class || !a->site || !b->site ||
	    a->is_inherited != b->is_inherited ||
	    a->site->frame_count != b->site->frame_count)
		return false;
	for (uint32_t i = 0; i < a->site->frame_count; i++)
		if (frames[a->site->frames[i]].place !=
		    frames[b->site->frames[i]].place)
			return false;
	return true;
}

static uint64_t
hash_entry(const struct verdict_list *l, const struct verdict_entry *e)
{
	uint64_t hash = dict_hash(e->sum.class, e->is_inherited, 0);

	for (uint32_t i = 0; e->site && i < e->site->frame_count; i++)
		hash = dict_hash(
		    hash, l->view->frames[e->site->frames[i]].place, i);
	return hash;
}

static void
join(struct verdict_site *a, const struct verdict_site *b)
{
	a->notes |= b->notes;
	if (a->first_birth > b->first_birth)
		a->first_birth = b->first_birth;
	if (a->last_birth < b->last_birth)
		a->last_birth = b->last_birth;
	a->blocks = capped_sum(a->blocks, b->blocks);
	a->bytes = capped_sum(a->bytes, b->bytes);
	a->direct_blocks = capped_sum(a->direct_blocks, b->direct_blocks);
	a->direct_bytes = capped_sum(a->direct_bytes, b->direct_bytes);
	a->cycle_blocks = capped_sum(a->cycle_blocks, b->cycle_blocks);
	a->cycle_bytes = capped_sum(a->cycle_bytes, b->cycle_bytes);
	a->indirect_blocks = capped_sum(a->indirect_blocks, b->indirect_blocks);
	a->indirect_bytes = capped_sum(a->indirect_bytes, b->indirect_bytes);
	a->held_again = capped_sum(a->held_again, b->held_again);
	a->freed_late = capped_sum(a->freed_late, b->freed_late);
	if (!a->type)
		a->type = b->type;
}

static int
add_entry(struct verdict_list *l, struct entries *x, struct verdict_entry *e)
{
	uint32_t fresh = (uint32_t)l->count, found = fresh;
	int err = 0;

	if (e->site)
		err = dict_find(&x->find, hash_entry(l, e), looks_same, x, e,
		    fresh, &found);
	if (err < 0)
		return err;
	if (found == fresh) {
		l->at[l->count++] = *e;
		return 0;
	}
	join(&l->at[found].sum, &e->sum);
	l->at[found].sites++;
	return 0;
}

/* ---- who frees the others ------------------------------------------------- */

static void
find_freers(struct verdict_entry *e, struct names *names)
{
	const struct process_site *site =
	    e->site ? &e->process->sites[e->site->site] : NULL;
	const struct process_freers *f = site ? site->freed_by : NULL;
	uint64_t all = 0;

	for (size_t i = 0; f && i < f->count; i++)
		all += f->at[i].count;
	for (size_t i = 0; all > 0 && i < f->count && i < SEG_FREERS; i++) {
		const struct process_module *m =
		    process_module(e->process, f->at[i].frame);
		const struct names_frame *chain;
		size_t n =
		    names_chain(names, e->process, f->at[i].frame, &chain);

		/* what was inlined there is a part of it: the last is all */
		e->freers[e->freer_count++] =
		    (struct verdict_freer){.function = chain[n - 1].function,
		        .module = m ? m->path : NULL,
		        .file = chain[n - 1].file,
		        .line = chain[n - 1].line,
		        .share = (double)f->at[i].count / (double)all};
	}
}

/* Their names are looked for with those of the stacks. */
static int
gather_freers(
    const struct session *s, const struct verdict_list *l, struct names *names)
{
	int err = 0;

	for (size_t i = 0; i < l->verdicts->count && err == 0; i++) {
		uint32_t id = l->verdicts->sites[i].site;
		const struct process *p = owner_of(s, l->process, id);
		size_t n = p ? site_of(p, id) : SIZE_MAX;
		const struct process_freers *f =
		    n != SIZE_MAX ? p->sites[n].freed_by : NULL;
		uint64_t frames[SEG_FREERS];
		size_t count = 0;

		for (; f && count < f->count && count < SEG_FREERS; count++)
			frames[count] = f->at[count].frame;
		if (count > 0)
			err = names_gather_frames(names, p, frames, count);
	}
	return err;
}

static int
by_weight(const void *a, const void *b)
{
	const struct verdict_site *x = &((const struct verdict_entry *)a)->sum;
	const struct verdict_site *y = &((const struct verdict_entry *)b)->sum;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->blocks != y->blocks)
		return x->blocks > y->blocks ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static int
add_entries(struct verdict_list *l, const struct session *s,
    const struct verdicts *v, struct names *names)
{
	struct entries known = {.list = l};
	int err = 0;

	l->at = calloc(v->count + 1, sizeof(*l->at));
	if (!l->at)
		return -ENOMEM;
	for (size_t i = 0; i < v->count && err == 0; i++) {
		const struct verdict_site *x = &v->sites[i];
		struct verdict_entry e = {.sum = *x,
		    .sites = 1,
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
		err = add_entry(l, &known, &e);
	}
	dict_release(&known.find);
	for (size_t i = 0; i < l->count && err == 0; i++) {
		const struct verdict_site *x = &l->at[i].sum;

		verdict_rate(&l->process->header, v, x, &l->at[i].rate);
		find_freers(&l->at[i], names);
		add_sum(x->class == VERDICT_LEAK ? &l->leaks : &l->possible, x);
	}
	if (l->count)
		qsort(l->at, l->count, sizeof(*l->at), by_weight);
	return err;
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
	if (err == 0)
		err = gather_freers(s, l, names);
	if (err == 0) {
		o.metric = VIEW_LIVE;
		o.figures = (const struct process_figures *const *)l->figures;
		err = view_new(s, names, &o, &l->view);
	}
	if (err == 0)
		err = add_entries(l, s, v, names);
	if (err < 0) {
		verdict_list_free(l);
		return err;
	}
	*ret = l;
	return 0;
}

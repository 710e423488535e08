/* life_table.c - at which age the blocks of a site die, and which never do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/life_table.h"

#include <math.h>

#include "analysis/score/score.h"
#include "analysis/score/slope.h"
#include "kit/data/dict.h"
#include "session/process/stacks.h"

static const double LETHAL = 0.15, BENIGN = 0.30, FLAT = 0.02, CLIFF = 0.5;
enum { WEIGHT = 16, OLD = 16, LATE = 3 };

double life_table_from(int class, double unit_s)
{
	return class > 0 ? ldexp(unit_s, class - 1) : 0;
}

double life_table_to(int class, double unit_s)
{
	return ldexp(unit_s, class);
}

/* How much of the class the life of the site has seen, 0 to 1. */
static double covered(const struct life_table_input *in, int class)
{
	double from = life_table_from(class, in->unit_s);
	double to = life_table_to(class, in->unit_s);
	double part = (in->life_s - from) / (to - from);

	return part < 0 ? 0 : part < 1 ? part : 1;
}

/* What would die of a benign tail in a doubling of the age, at the least. */
static double benign(const struct life_table_input *in, int knee, const double *exposed)
{
	if (knee < 0 || in->without_cliff)
		return BENIGN;
	return fmax(BENIGN, in->deaths[knee] / exposed[knee] * CLIFF);
}

static double flatness(const struct life_table_input *in, int class, double exposed, double slowest)
{
	double deaths = in->deaths[class];
	double lives = exposed > deaths ? exposed - deaths : 0;
	double weight = exposed > WEIGHT ? WEIGHT / exposed : 1;

	return weight * covered(in, class) *
	    (deaths * log(FLAT / slowest) + lives * log((1 - FLAT) / (1 - slowest)));
}

void life_table_make(const struct life_table_input *in, struct life_table *ret)
{
	double exposed[LIFE_TABLE_CLASSES], one[LIFE_TABLE_CLASSES], reach = 0;
	double slowest;

	*ret = (struct life_table){.knee = -1};
	for (int i = LIFE_TABLE_CLASSES - 1; i >= 0; i--) {
		reach += in->deaths[i] + in->living[i];
		exposed[i] = reach - in->living[i] / 2;
		ret->freed += in->deaths[i];
		if (life_table_from(i, in->unit_s) * OLD >= in->life_s)
			ret->old_deaths += in->deaths[i];
		if (ret->knee < 0 && in->deaths[i] > 0 &&
		    (in->deaths[i] + 0.25) / (exposed[i] + 0.5) > LETHAL)
			ret->knee = i;
	}
	ret->all = reach;
	slowest = benign(in, ret->knee, exposed);
	ret->tail_s = ret->knee < 0 ? 0 : life_table_to(ret->knee, in->unit_s);
	for (int i = ret->knee + 1; i < LIFE_TABLE_CLASSES; i++) {
		ret->survivors += in->living[i];
		ret->tail_deaths += in->deaths[i];
		if (exposed[i] <= 0)
			break;
		one[i] = flatness(in, i, exposed[i], slowest);
		ret->flatness += one[i];
		ret->late_flatness += one[i];
		if (i - LATE > ret->knee)
			ret->late_flatness -= one[i - LATE];
	}
}

/* ---- inflow: do the live blocks of a site come all the time, or did they come once? ---- */

/* a quarter of batches has so many births, and such a part of its share */
enum { BATCH_MIN = 3, BATCH_PART = 3 };
enum { PARTS = 8, SLOTS_MIN = 4, BIRTHS_MIN = 5, BIRTHS_MANY = 12 };
static const double SURPRISE = 0.01;
static const double CERTAIN = 2.6; /* standard deviations: 99 % */
static const double DAY_S = 24 * 3600.0, NOON_S = 16 * 3600.0;

/* A quarter with less than half of its share is an end, unless by chance. */
static bool has_ended(double births, double share)
{
	return births < share / 2 && poisson_at_most(births, share) < SURPRISE;
}

static double dispersion(const double part[PARTS], int parts, double births)
{
	double mean = births / parts, sum = 0;

	if (parts < 2 || mean <= 0)
		return 1;
	for (int i = 0; i < parts; i++)
		sum += (part[i] - mean) * (part[i] - mean);
	sum /= (parts - 1) * mean;
	return sum > 1 ? sum : 1;
}

/*
 * Traffic that follows the day has a quarter with few births, but had more in
 * the middle than at first. What fills up has most of them first.
 */
static bool has_noon(const struct inflow *x)
{
	double first = x->quarter[0], best = x->quarter[1];

	if (x->quarter[2] > best)
		best = x->quarter[2];
	return x->span_s > NOON_S && best - first > CERTAIN * sqrt(first + best);
}

/* As many in the last quarter as at the same hours of the day before? */
static bool is_like_yesterday(const struct inflow *x, const double *slot)
{
	int day = (int)(DAY_S / x->slot_s + 0.5), from = x->slots * 3 / 4;
	double before = 0;

	if (day < 1 || from < day)
		return false;
	for (int i = from; i < x->slots; i++)
		before += slot[i - day];
	return x->quarter[3] >= before / 2;
}

static bool in_batches(const struct inflow *x)
{
	if (x->slots < 2 * SLOTS_MIN || x->births < BIRTHS_MANY)
		return false;
	for (int i = 0; i < 4; i++)
		if (x->quarter[i] < BATCH_MIN || x->quarter[i] * 4 * BATCH_PART < x->births)
			return false;
	return true;
}

void inflow_make(const struct inflow_input *in, struct inflow *ret)
{
	double part[PARTS] = {0};
	int first, end, needed;

	*ret = (struct inflow){.dispersion = 1};
	if (!(in->until_s > 0) || !(in->to_s > in->from_s) || in->from_s < 0)
		return;
	ret->slot_s = in->until_s / INFLOW_SLOTS;
	/* the slot in which the site began counts as a whole one */
	first = (int)fmin(in->from_s / ret->slot_s, INFLOW_SLOTS);
	end = (int)fmin(in->to_s / ret->slot_s + 1e-9, INFLOW_SLOTS);
	ret->slots = end > first ? end - first : 0;
	ret->span_s = ret->slots * ret->slot_s;
	ret->parts = ret->slots < PARTS ? ret->slots : PARTS;
	for (int i = 0; i < ret->slots; i++) {
		double n = in->births[first + i];

		ret->births += n;
		part[i * ret->parts / ret->slots] += n;
		ret->quarter[i * 4 / ret->slots] += n;
	}
	for (int i = 0; i < ret->parts; i++)
		ret->hit += part[i] > 0;
	ret->dispersion = dispersion(part, ret->parts, ret->births);
	needed = ret->births < BIRTHS_MANY ? (ret->parts + 1) / 2 : (ret->parts * 3 + 3) / 4;
	ret->is_everywhere =
	    ret->slots >= SLOTS_MIN && ret->births >= BIRTHS_MIN && ret->hit >= needed;
	ret->in_batches = in_batches(ret);
	ret->has_ended = has_ended(ret->quarter[3], ret->births / 4);
	ret->is_night = ret->quarter[3] >= BIRTHS_MIN &&
	    (has_noon(ret) || is_like_yesterday(ret, in->births + first));
}

double inflow_fits(const double births[INFLOW_SLOTS], double until_s, double from_s)
{
	double sum = 0;
	int n = 0, i = INFLOW_SLOTS;

	/* the first slot may be a part of one, and has what was there at first */
	if (until_s > 0 && from_s >= 0)
		i = (int)fmin(from_s / until_s * INFLOW_SLOTS, i) + 1;
	for (; i + 1 < INFLOW_SLOTS; i++) {
		double both = births[i] + births[i + 1];
		double differ = births[i] - births[i + 1];

		if (both <= 0)
			continue;
		sum += differ * differ / both;
		n++;
	}
	return n > 0 ? sum / n : 1;
}

double inflow_since(const double births[INFLOW_SLOTS], double until_s, double share)
{
	double all = 0, some = 0;
	int i = INFLOW_SLOTS;

	for (int k = 0; k < INFLOW_SLOTS; k++)
		all += births[k];
	while (i > 0 && some < all * share)
		some += births[--i];
	return until_s / INFLOW_SLOTS * (INFLOW_SLOTS - i);
}

/* ---- restarts: earlier lives of a program, in which its sites have settled ---- */

enum { LIVES = 8 };

struct restarts_site {
	uint64_t stack; /* hash of modules and offsets, and the kind of call */
	double settled_s;
	bool has_grown;
};

/* ---- which lives ---- */

static bool is_earlier(const struct process *a, const struct process *b)
{
	uint64_t end = a->header.start_realtime_ns + a->duration_ns;

	return end >= a->duration_ns && end <= b->header.start_realtime_ns && !a->is_snapshot &&
	    strcmp(a->header.exe, b->header.exe) == 0 && scores_until_s(a) > scores_until_s(b);
}

static size_t choose(
    const struct session *s, const struct process *p, const struct process *ret[LIVES])
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *x = s->processes[i];
		size_t at;

		if (x == p || !is_earlier(x, p))
			continue;
		if (n == LIVES && scores_until_s(ret[n - 1]) >= scores_until_s(x))
			continue;
		at = n < LIVES ? n++ : n - 1;
		for (; at > 0 && scores_until_s(ret[at - 1]) < scores_until_s(x); at--)
			ret[at] = ret[at - 1];
		ret[at] = x;
	}
	return n;
}

/* ---- which sites ---- */

/* Equal for equal stacks of two processes, wherever modules are loaded. */
static uint64_t stack_of(
    const struct process *p, const struct process_site *s, uint64_t frames[STACKS_MAX_FRAMES])
{
	uint32_t flags;
	size_t n = stacks_frames(p->stacks, s->stack, frames, STACKS_MAX_FRAMES, &flags);
	uint64_t hash = dict_hash(s->api, n, flags);

	for (size_t i = 0; i < n; i++) {
		uint32_t number = SEG_FRAME_MODULE(frames[i]);
		const struct process_module *m =
		    number < p->module_count ? &p->modules[number] : NULL;
		uint64_t who = 0, base = 0;

		if (m && number > 0) {
			base = m->base;
			who = m->build_id_bytes > 0 && m->build_id_bytes <= sizeof(m->build_id)
			    ? dict_hash_bytes(m->build_id, m->build_id_bytes)
			    : dict_hash_text(m->path);
		}
		hash = dict_hash(hash, who, SEG_FRAME_PC(frames[i]) - base);
	}
	return hash;
}

static int by_stack(const void *a, const void *b)
{
	uint64_t x = ((const struct restarts_site *)a)->stack;
	uint64_t y = ((const struct restarts_site *)b)->stack;

	return (x > y) - (x < y);
}

/* Of a block that realloc makes larger, ages do not tell whether it grows. */
static void add_life(struct restarts *r, const struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		struct score_input in;
		struct score x;

		if (!scores_input(p, &p->sites[i], &in))
			continue;
		score_make(&in, &x);
		r->sites[r->count++] = (struct restarts_site){
		    .stack = stack_of(p, &p->sites[i], r->frames),
		    .settled_s = in.ages.life_s,
		    .has_grown = x.class == SCORE_LEAK || x.class == SCORE_GROWTH || in.moved > 0};
	}
}

/* One entry for each stack. */
static void join(struct restarts *r)
{
	size_t n = 0;

	if (r->count > 0)
		qsort(r->sites, r->count, sizeof(*r->sites), by_stack);
	for (size_t i = 0; i < r->count; i++) {
		const struct restarts_site x = r->sites[i];
		struct restarts_site *last = n > 0 ? &r->sites[n - 1] : NULL;

		if (!last || last->stack != x.stack) {
			r->sites[n++] = x;
			continue;
		}
		last->has_grown |= x.has_grown;
		if (x.settled_s > last->settled_s)
			last->settled_s = x.settled_s;
	}
	r->count = n;
}

void restarts_make(const struct session *s, const struct process *p, struct restarts *ret)
{
	const struct process *lives[LIVES];
	size_t n = choose(s, p, lives), room = 0;

	*ret = (struct restarts){0};
	for (size_t i = 0; i < n; i++)
		room += lives[i]->site_count;
	if (room == 0)
		return;
	ret->sites = calloc(room, sizeof(*ret->sites));
	ret->frames = calloc(STACKS_MAX_FRAMES, sizeof(*ret->frames));
	if (!ret->sites || !ret->frames)
		return;
	for (size_t i = 0; i < n; i++)
		add_life(ret, lives[i]);
	join(ret);
}

void restarts_release(struct restarts *r)
{
	free(r->sites);
	free(r->frames);
	*r = (struct restarts){0};
}

double restarts_settled_s(
    const struct restarts *r, const struct process *p, const struct process_site *s)
{
	struct restarts_site key = {0};
	const struct restarts_site *x;

	if (r->count == 0)
		return 0;
	key.stack = stack_of(p, s, r->frames);
	x = bsearch(&key, r->sites, r->count, sizeof(*r->sites), by_stack);
	return x && !x->has_grown ? x->settled_s : 0;
}

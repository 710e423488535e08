/* scores.c - the scores of the sites of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/score.h"

#include "analysis/score/life_table.h"
#include "session/load/session.h"
#include "session/timeline/timeline.h"
#include "recording/parts/aging.h"

_Static_assert((int)LIFE_TABLE_CLASSES == (int)PROCESS_STEPS - 1 + (int)PROCESS_AGES, "all ages");
_Static_assert((int)LIFE_TABLE_CLASSES == (int)AGING_DEATHS, "all deaths");
_Static_assert((int)AGING_LIVING == (int)PROCESS_AGES, "all living");
_Static_assert((int)INFLOW_SLOTS == (int)SEG_BIRTH_SLOTS, "all births");

enum {
	SERIES_SITES = 8, /* that realloc makes larger */
	SERIES_POINTS = 256,
	SERIES_BYTES = 64 << 10, /* smaller ones do not matter */
	CLOCK_MAX = 1000000,
};

double scores_clock(void)
{
	static double clock;
	const char *text = clock > 0 ? NULL : getenv("SEEP_SCORE_CLOCK");

	if (!(clock > 0)) {
		clock = text ? strtod(text, NULL) : 1;
		if (!(clock >= 1) || clock > CLOCK_MAX)
			clock = 1;
	}
	return clock;
}

/* ---- what is known of a site ---- */

/*
 * realloc counts as a free without an age, so it is among the youngest deaths
 * although the block lives on. These are deaths if a call of free() was seen, of
 * which the collector looks at one in 60.
 */
static bool youngest_are_moves(const struct process_site *s)
{
	return s->api == SEG_API_REALLOC || !s->freed_by;
}

static void take_site(const struct process_site *s, struct aging_site *to)
{
	uint64_t deaths[PROCESS_AGES], young[PROCESS_STEPS];

	*to = (struct aging_site){.site = s->id,
	    .first_tick = s->first_tick,
	    .blocks = s->figures.live_blocks,
	    .bytes = s->figures.live_bytes};
	process_deaths(s, deaths);
	process_young(s->ages, deaths[0], young);
	memcpy(to->deaths, young, sizeof(young));
	memcpy(to->deaths + PROCESS_STEPS, deaths + 1, (PROCESS_AGES - 1) * sizeof(*deaths));
	if (youngest_are_moves(s)) {
		to->moved = to->deaths[0];
		to->deaths[0] = 0;
	}
	/* tests count blocks that were seen, not those that a sample means */
	for (int i = 0; s->samples > 0 && i < AGING_DEATHS; i++)
		to->deaths[i] = (uint64_t)((double)to->deaths[i] * (double)s->samples /
		    (double)(s->figures.allocations + 1));
	if (!s->ages)
		return;
	memcpy(to->living, s->ages->living, sizeof(to->living));
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		to->births[i] = s->ages->births[i];
}

static void make_input(
    const struct aging_site *s, uint32_t until_tick, uint32_t tick_ns, struct score_input *ret)
{
	double tick_s = (double)tick_ns * 1e-9 * scores_clock();

	*ret = (struct score_input){.blocks = (double)s->blocks,
	    .bytes = (double)s->bytes,
	    .until_s = ((double)until_tick + 1) * tick_s,
	    .first_s = (double)s->first_tick * tick_s,
	    .moved = (double)s->moved};
	ret->ages.unit_s = tick_s;
	ret->ages.life_s = ret->until_s - ret->first_s;
	for (int i = 0; i < AGING_DEATHS; i++)
		ret->ages.deaths[i] = (double)s->deaths[i];
	for (int i = 0; i < AGING_LIVING; i++)
		ret->ages.living[i ? PROCESS_STEPS - 1 + i : 0] = (double)s->living[i];
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		ret->births[i] = (double)s->births[i];
}

/* Does the process itself know ages and births, at its end or now? */
static bool knows_ages(const struct process *p)
{
	return p->temporary_ticks > 0 && p->births_until > 0 && !p->ages_partial &&
	    process_knows_births(p);
}

double scores_until_s(const struct process *p)
{
	uint32_t tick = knows_ages(p) ? p->births_until : p->aging ? p->aging->tick : 0;

	return (double)tick * (double)p->header.tick_ns * 1e-9 * scores_clock();
}

bool scores_lack_ages(const struct process *p)
{
	double age_s = (double)p->births_until * (double)p->header.tick_ns * 1e-9 * scores_clock();

	return p->running_pid > 0 && p->ages_partial && !p->aging && age_s >= SCORE_MIN_S;
}

bool scores_input(const struct process *p, const struct process_site *s, struct score_input *ret)
{
	const struct aging_site *known;
	struct aging_site x;

	if (s->kind != SEG_SITE_HEAP)
		return false;
	if (knows_ages(p)) {
		if (s->figures.live_blocks > 0 && (!s->ages || !s->ages->births_known))
			return false;
		take_site(s, &x);
		make_input(&x, p->births_until, p->header.tick_ns, ret);
		return true;
	}
	known = p->aging ? aging_find(p->aging, s->id) : NULL;
	if (!known)
		return false;
	make_input(known, p->aging->tick, p->header.tick_ns, ret);
	return true;
}

int scores_take(const struct process *p, struct aging *ret)
{
	size_t room = 0;

	*ret = (struct aging){.tick = p->births_until};
	for (size_t i = 0; i < p->site_count; i++)
		room += p->sites[i].ages && p->sites[i].ages->births_known;
	ret->sites = calloc(room + 1, sizeof(*ret->sites));
	if (!ret->sites)
		return -ENOMEM;
	for (size_t i = 0; i < p->site_count; i++)
		if (p->sites[i].ages && p->sites[i].ages->births_known &&
		    p->sites[i].kind == SEG_SITE_HEAP)
			take_site(&p->sites[i], &ret->sites[ret->count++]);
	return 0;
}

/* ---- scores ---- */

/* A site that realloc makes larger, and that the ages say nothing of. */
static bool wants_series(const struct score_input *in, const struct score *score)
{
	return in->moved > 0 && in->bytes >= SERIES_BYTES && score->class != SCORE_LEAK &&
	    score->class != SCORE_GROWTH;
}

static void judge_by_series(
    const struct process *p, const struct timeline_series *x, struct score *ret)
{
	struct slope_point *points = calloc(x->count + 1, sizeof(*points));
	struct score_input in;

	if (points && scores_input(p, &p->sites[x->site], &in)) {
		for (size_t i = 0; i < x->count; i++)
			points[i] = (struct slope_point){
			    .time_s = (double)x->points[i].time_us * 1e-6 * scores_clock(),
			    .value = (double)x->points[i].live_bytes};
		in.series = points;
		in.series_count = x->count;
		score_make(&in, ret);
	}
	free(points);
}

/* A failure leaves the scores as they are. */
static void look_at_series(
    const struct session *s, struct process *p, struct timeline_series *list, size_t n)
{
	if (n > 0 && s->line && timeline_series(s->line, p, list, n, SERIES_POINTS) == 0)
		for (size_t i = 0; i < n; i++)
			judge_by_series(p, &list[i], &p->scores[list[i].site]);
	for (size_t i = 0; i < n; i++)
		free(list[i].points);
}

/* Puts a site among the largest. */
static void choose(const struct process *p, size_t number, struct timeline_series *list, size_t *n)
{
	size_t i = *n < SERIES_SITES ? (*n)++ : SERIES_SITES - 1;
	uint64_t bytes = p->sites[number].figures.live_bytes;

	if (i == SERIES_SITES - 1 && *n == SERIES_SITES && list[i].count &&
	    p->sites[list[i].site].figures.live_bytes >= bytes)
		return;
	list[i] = (struct timeline_series){.site = number, .count = 1};
	for (; i > 0 && p->sites[list[i - 1].site].figures.live_bytes < bytes; i--) {
		struct timeline_series x = list[i];

		list[i] = list[i - 1];
		list[i - 1] = x;
	}
}

static void judge(const struct session *s, struct process *p)
{
	struct timeline_series list[SERIES_SITES] = {0};
	struct restarts earlier;
	size_t n = 0;

	restarts_make(s, p, &earlier);
	for (size_t i = 0; i < p->site_count; i++) {
		struct score_input in;

		if (!scores_input(p, &p->sites[i], &in))
			continue;
		in.settled_s = restarts_settled_s(&earlier, p, &p->sites[i]);
		score_make(&in, &p->scores[i]);
		if (wants_series(&in, &p->scores[i]))
			choose(p, i, list, &n);
	}
	restarts_release(&earlier);
	for (size_t i = 0; i < n; i++)
		list[i].count = 0;
	look_at_series(s, p, list, n);
}

const struct score *scores_of(const struct session *s, struct process *p, size_t number)
{
	if (!p->scores) {
		if (scores_until_s(p) < SCORE_MIN_S)
			return NULL;
		p->scores = calloc(p->site_count + 1, sizeof(*p->scores));
		if (!p->scores)
			return NULL; /* a report without them is better */
		judge(s, p);
	}
	return p->scores[number].class == SCORE_NONE ? NULL : &p->scores[number];
}

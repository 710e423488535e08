/* score.c - is a site a leak, does it grow, is it steady, or is it churn? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/score.h"

#include <math.h>

#include "analysis/score/slope.h"

static const double MINUTE = 60, HOUR = 3600, WEEK = 7 * 24 * 3600.0;
static const double FREED = 0.30;                 /* share of siblings that are freed */
static const double PROOF_LATE = 4.6;             /* 100 to 1 */
static const double PROOF = 6.9;                  /* 1000 to 1 */
static const double LATE = 0.05;                  /* this share may come late in STEADY */
static const double RISES = 0.7;                  /* Kendall's tau of a series that grows */
static const double FITS = 2.5, FITS_DOUBT = 1.3; /* see inflow_fits() */
enum { SURVIVORS = 5, TAILS = 8, TAILS_EARLY = 3, DOUBT = 5 };

/* ---- which windows have inflow ---- */

/* The inflow between two moments of the process. */
static void look_at(const struct score_input *in, double from_s, double to_s, struct inflow *ret)
{
	struct inflow_input x = {.until_s = in->until_s, .from_s = from_s, .to_s = to_s};

	for (int i = 0; i < INFLOW_SLOTS; i++)
		x.births[i] = in->births[i];
	inflow_make(&x, ret);
}

/* When the growth began that was found between from_s and to_s. */
static double began(const struct score_input *in, double from_s, double to_s)
{
	struct inflow_input x = {.until_s = in->until_s, .from_s = in->first_s, .to_s = to_s};
	double at_s = from_s;

	for (int i = 0; i < INFLOW_SLOTS; i++)
		x.births[i] = in->births[i];
	(void)knee_find(&x, &at_s);
	return at_s;
}

/* Blocks came all the time, and still come. */
static bool comes(const struct score_input *in, const struct inflow *x)
{
	bool is_night = !(in->without & SCORE_DAYS) && x->is_night;

	return x->is_everywhere && (!x->has_ended || is_night);
}

static bool comes_in_batches(const struct score_input *in, const struct inflow *x)
{
	return !(in->without & SCORE_BATCHES) && x->in_batches && !x->has_ended;
}

/* A leak may have begun later: the last half and the last quarter, too. */
static bool goes_on(
    const struct score_input *in, double to_s, struct inflow *ret, double *ret_from_s)
{
	for (int part = 1; part <= 4; part *= 2) {
		double from_s = to_s - (to_s - in->first_s) / part;

		look_at(in, from_s, to_s, ret);
		*ret_from_s = from_s;
		if (comes(in, ret) || (part == 1 && comes_in_batches(in, ret)))
			return true;
	}
	look_at(in, in->first_s, to_s, ret);
	return false;
}

/* ---- rate ---- */

static void set_rate(const struct score_input *in, const struct inflow *x, struct score *ret)
{
	double each = in->blocks > 0 ? in->bytes / in->blocks : 0;
	double low, high, wide = sqrt(x->dispersion), an_hour;

	if (!(x->span_s > 0) || !(x->births > 0))
		return;
	an_hour = each * HOUR / x->span_s;
	poisson_interval(x->births, &low, &high);
	ret->rate = x->births * an_hour;
	/* births that come in groups say less than their number */
	ret->low = fmax(x->births - (x->births - low) * wide, 0) * an_hour;
	ret->high = (x->births + (high - x->births) * wide) * an_hour;
	ret->has_rate = true;
}

/* ---- classes ---- */

static bool is_leak(const struct score_input *in, const struct life_table *t, struct score *ret)
{
	double life_s = in->until_s - in->first_s, from_s;
	double tails = in->without & SCORE_EARLY ? TAILS : TAILS_EARLY;
	struct inflow x;

	if (t->freed <= FREED * t->all || t->survivors < SURVIVORS || t->flatness < PROOF ||
	    t->late_flatness < PROOF_LATE || life_s < tails * t->tail_s || life_s < HOUR)
		return false;
	if (!goes_on(in, in->until_s - t->tail_s, &x, &from_s))
		return false;
	*ret = (struct score){.class = SCORE_LEAK,
	    .basis = SCORE_BY_SIBLINGS,
	    .confidence = 1 - exp(-t->flatness),
	    .blocks = t->survivors,
	    .bytes = in->blocks > 0 ? in->bytes / in->blocks * t->survivors : 0,
	    .freed_share = t->freed / (t->freed + t->survivors),
	    .within_s = t->tail_s,
	    .began_s = began(in, from_s, in->until_s - t->tail_s)};
	set_rate(in, &x, ret);
	return true;
}

/* That it is a leak and no cache that fills, whose time may be anything. */
static double chance(const struct score_input *in, const struct life_table *t)
{
	double life_s = in->until_s - in->first_s;
	double odds = log(WEEK / MINUTE) / log(WEEK / fmin(fmax(life_s, MINUTE), 0.9 * WEEK));

	if (!(in->without & SCORE_RELEASE) && t->old_deaths >= 1)
		odds /= DOUBT;
	if (!(in->without & SCORE_RESTARTS) && in->settled_s > life_s)
		odds /= DOUBT;
	if (!(in->without & SCORE_FITS) && inflow_fits(in->births, in->until_s, in->first_s) > FITS)
		odds /= FITS_DOUBT;
	return odds / (1 + odds);
}

/* One block, or a few, that realloc makes larger and larger. */
static bool grows_in_place(
    const struct score_input *in, const struct life_table *t, struct score *ret)
{
	struct slope x;

	if (!(in->moved > 0) || !slope_make(in->series, in->series_count, &x) || !(x.low > 0) ||
	    x.tau < RISES)
		return false;
	*ret = (struct score){.class = SCORE_GROWTH,
	    .basis = SCORE_BY_INFLOW,
	    .confidence = chance(in, t),
	    .blocks = in->blocks,
	    .bytes = in->bytes,
	    .has_rate = true,
	    .rate = x.middle * HOUR,
	    .low = x.low * HOUR,
	    .high = x.high * HOUR,
	    .began_s = in->first_s};
	return true;
}

static bool is_growth(const struct score_input *in, const struct life_table *t, struct score *ret)
{
	struct inflow x;

	if (t->freed > FREED * t->all || t->survivors < SURVIVORS || t->flatness < PROOF)
		return false;
	look_at(in, in->first_s, in->until_s - t->tail_s, &x);
	if (!comes(in, &x))
		return false;
	*ret = (struct score){.class = SCORE_GROWTH,
	    .basis = SCORE_BY_INFLOW,
	    .confidence = chance(in, t),
	    .blocks = in->blocks,
	    .bytes = in->bytes,
	    .has_releases = t->old_deaths > 0,
	    .began_s = began(in, in->first_s, in->until_s - t->tail_s)};
	set_rate(in, &x, ret);
	return true;
}

/* Live, and nearly all of it came in the first half of the site's life. */
static bool is_steady(const struct score_input *in, struct score *ret)
{
	double late_s = inflow_since(in->births, in->until_s, LATE);
	/* the end of the slot in which the last of them was born */
	double built_s = in->until_s - late_s + in->until_s / INFLOW_SLOTS;

	if (in->blocks < 1 || built_s - in->first_s > (in->until_s - in->first_s) / 2)
		return false;
	*ret = (struct score){.class = SCORE_STEADY,
	    .basis = SCORE_BY_INFLOW,
	    .blocks = in->blocks,
	    .bytes = in->bytes,
	    .built_s = built_s};
	return true;
}

static bool is_churn(const struct score_input *in, const struct life_table *t, struct score *ret)
{
	if (t->freed <= FREED * t->all)
		return false;
	*ret = (struct score){.class = SCORE_CHURN,
	    .basis = SCORE_BY_SIBLINGS,
	    .blocks = in->blocks,
	    .bytes = in->bytes,
	    .freed_share = t->freed / t->all};
	return true;
}

void score_make(const struct score_input *in, struct score *ret)
{
	struct life_table_input ages = in->ages;
	struct life_table t;

	*ret = (struct score){.blocks = in->blocks, .bytes = in->bytes};
	if (in->first_s < 0 || !(in->until_s - in->first_s >= SCORE_MIN_S))
		return;
	ages.without_cliff |= (in->without & SCORE_CLIFF) != 0;
	life_table_make(&ages, &t);
	if (is_leak(in, &t, ret) || is_growth(in, &t, ret) || grows_in_place(in, &t, ret) ||
	    is_steady(in, ret) || is_churn(in, &t, ret))
		return;
}

/* ---- several sites as one ---- */

static void add_rate(struct score *to, const struct score *from)
{
	double below = hypot(to->rate - to->low, from->rate - from->low);
	double above = hypot(to->high - to->rate, from->high - from->rate);

	if (!from->has_rate)
		return;
	if (!to->has_rate) {
		below = from->rate - from->low;
		above = from->high - from->rate;
		to->rate = 0;
	}
	to->has_rate = true;
	to->rate += from->rate;
	to->low = fmax(to->rate - below, 0);
	to->high = to->rate + above;
}

void score_join(struct score *to, const struct score *from)
{
	if (from->class == SCORE_NONE || (to->class != SCORE_NONE && to->class < from->class))
		return;
	if (to->class != from->class) {
		*to = *from;
		return;
	}
	add_rate(to, from);
	to->blocks += from->blocks;
	to->bytes += from->bytes;
	to->has_releases |= from->has_releases;
	to->confidence = fmax(to->confidence, from->confidence);
	to->freed_share = fmin(to->freed_share, from->freed_share);
	to->within_s = fmax(to->within_s, from->within_s);
	to->began_s = fmin(to->began_s, from->began_s);
	to->built_s = fmax(to->built_s, from->built_s);
}

/* ---- words ---- */

const char *score_class_key(enum score_class class)
{
	static const char *const keys[] = {NULL, "leak", "growth", "steady", "churn"};

	return (size_t) class < sizeof(keys) / sizeof(keys[0]) ? keys[class] : NULL;
}

const char *score_basis_key(enum score_basis basis)
{
	static const char *const keys[] = {NULL, "siblings", "inflow"};

	return (size_t)basis < sizeof(keys) / sizeof(keys[0]) ? keys[basis] : NULL;
}

/* inflow.c - do the live blocks of a site come all the time, or did they come once? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/inflow.h"

#include <math.h>

#include "analysis/score/poisson.h"

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

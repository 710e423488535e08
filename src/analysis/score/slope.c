/* slope.c - the slope of a series of points, whatever its outliers are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/slope.h"

#include <math.h>

#include "analysis/score/score.h"

#define Z95 1.959964

enum { PAIRS = SLOPE_POINTS * (SLOPE_POINTS - 1) / 2 };

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value at equal steps: a series has points where it changes. */
static size_t resample(
    const struct slope_point *points, size_t count, struct slope_point ret[SLOPE_POINTS])
{
	double from = points[0].time_s, to = points[count - 1].time_s;
	size_t at = 0;

	for (size_t i = 0; i < SLOPE_POINTS; i++) {
		double t = from + (to - from) * (double)i / (SLOPE_POINTS - 1);

		while (at + 1 < count && points[at + 1].time_s <= t)
			at++;
		ret[i] = (struct slope_point){t, points[at].value};
	}
	return SLOPE_POINTS;
}

bool slope_make(const struct slope_point *points, size_t count, struct slope *ret)
{
	struct slope_point at[SLOPE_POINTS];
	double slopes[PAIRS], up = 0, spread, middle;
	size_t n = 0, used;

	if (count < SLOPE_MIN || !(points[count - 1].time_s > points[0].time_s))
		return false;
	used = resample(points, count, at);
	for (size_t i = 0; i < used; i++) {
		for (size_t k = i + 1; k < used; k++) {
			double rise = at[k].value - at[i].value;

			up += (rise > 0) - (rise < 0);
			slopes[n++] = rise / (at[k].time_s - at[i].time_s);
		}
	}
	qsort(slopes, n, sizeof(*slopes), ascending);
	middle = (double)n / 2;
	/* of the number of rising pairs less the falling ones, by chance */
	spread = Z95 * sqrt((double)(used * (used - 1) * (2 * used + 5)) / 18) / 2;
	*ret = (struct slope){.middle = slopes[n / 2],
	    .low = slopes[(size_t)fmax(middle - spread, 0)],
	    .high = slopes[(size_t)fmin(middle + spread, (double)(n - 1))],
	    .tau = up / (double)n};
	return true;
}

/* ---- knee: when growth began ---- */

static const double PROOF = 6.9; /* 1000 to 1 */
static const double FASTER = 8;
enum { SLOTS_AFTER = 3, SLOTS_BEFORE = 1 };

/* ln of the likelihood of n births at their own rate, but for a constant. */
static double likelihood(double n, double slots)
{
	return n > 0 ? n * log(n / slots) : 0;
}

/* Births that come in groups say less than their number. */
static double dispersion(const double *births, int from, int end)
{
	double mean = 0, sum = 0;

	for (int i = from; i < end; i++)
		mean += births[i] / (end - from);
	if (end - from < 2 || !(mean > 0))
		return 1;
	for (int i = from; i < end; i++)
		sum += (births[i] - mean) * (births[i] - mean);
	return fmax(sum / ((end - from - 1) * mean), 1);
}

/*
 * Growth may begin anywhere in the slot before the split or in the first one
 * behind it: both have as many births as fit into the rest at the later rate.
 */
static double within(const double *births, int split, int end, double slot_s)
{
	double later = 0, filled;

	for (int i = split + 1; i < end; i++)
		later += births[i] / (end - split - 1);
	filled = (births[split - 1] + births[split]) / later;
	return (split + 1 - fmin(filled, 2)) * slot_s;
}

bool knee_find(const struct inflow_input *in, double *ret_s)
{
	double slot_s = in->until_s / INFLOW_SLOTS, all = 0, before = 0;
	double best = 0;
	int first, end, at = -1;

	if (!(slot_s > 0) || in->from_s < 0)
		return false;
	first = (int)fmin(in->from_s / slot_s, INFLOW_SLOTS);
	end = (int)fmin(in->to_s / slot_s + 1e-9, INFLOW_SLOTS);
	for (int i = first; i < end; i++)
		all += in->births[i];
	for (int i = first + SLOTS_BEFORE; i <= end - SLOTS_AFTER; i++) {
		double gain;

		before += in->births[i - 1];
		if (before * (end - i) * FASTER > (all - before) * (i - first))
			continue;
		gain = likelihood(before, i - first) + likelihood(all - before, end - i) -
		    likelihood(all, end - first);
		if (gain > best) {
			best = gain;
			at = i;
		}
	}
	if (at < 0 || best < PROOF * dispersion(in->births, at, end))
		return false;
	*ret_s = fmax(within(in->births, at, end, slot_s), in->from_s);
	return true;
}

/* ---- poisson: intervals and probabilities of counts ---- */

/* Above this, the normal distribution is close enough. */
enum { LARGE = 200 };

void poisson_interval(double n, double *ret_low, double *ret_high)
{
	double more = n + 1;

	*ret_low = n > 0 ? n * pow(1 - 1 / (9 * n) - Z95 / (3 * sqrt(n)), 3) : 0;
	*ret_high = more * pow(1 - 1 / (9 * more) + Z95 / (3 * sqrt(more)), 3);
}

double poisson_at_most(double n, double mean)
{
	double term = exp(-mean), sum = term;

	if (n < 0)
		return 0;
	if (mean > LARGE)
		return 0.5 * erfc((mean - n - 0.5) / sqrt(2 * mean));
	for (int i = 1; i <= n && i < 8 * LARGE; i++) {
		term *= mean / i;
		sum += term;
	}
	return sum < 1 ? sum : 1;
}

/* ---- forecast: when growth reaches a limit ---- */

static const double HOURS_MAX = 90 * 24;
enum { CHUNK_HEAD = 8, CHUNK_STEP = 16, CHUNK_MIN = 32 }; /* of glibc */
enum { PAGE = 4096 };

/*
 * What a block of this size takes, by its size. Of the live map, a page is used
 * where a block begins, so a large block needs one page of it at most.
 */
static double taken(double size, double map_share)
{
	double chunk = ceil((size + CHUNK_HEAD) / CHUNK_STEP) * CHUNK_STEP;

	if (!(size > 1))
		return 1 + map_share;
	chunk = fmax(chunk, CHUNK_MIN);
	return (chunk + fmin(chunk * map_share, PAGE)) / size;
}

void forecast_add(struct forecast_rate *to, const struct score *site)
{
	double more, below, above;

	if (!site->has_rate || (site->class != SCORE_LEAK && site->class != SCORE_GROWTH))
		return;
	more = site->blocks > 0 ? taken(site->bytes / site->blocks, to->map_share) : 1;
	/* sites are independent of each other */
	below = hypot(to->bytes - to->low, (site->rate - site->low) * more);
	above = hypot(to->high - to->bytes, (site->high - site->rate) * more);
	to->bytes += site->rate * more;
	to->low = to->bytes - below;
	to->high = to->bytes + above;
}

bool forecast_make(const struct forecast_rate *rate, double room, struct forecast *ret)
{
	if (!(rate->low > 0) || rate->seen_s < SCORE_MIN_S || !(room >= 0) ||
	    !(room / rate->bytes <= HOURS_MAX))
		return false;
	*ret = (struct forecast){
	    .hours = room / rate->bytes, .low = room / rate->high, .high = room / rate->low};
	return true;
}

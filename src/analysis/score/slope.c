/* slope.c - the slope of a series of points, whatever its outliers are. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/slope.h"

#include <math.h>
#include <stdlib.h>

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

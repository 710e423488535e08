/* slope.h - series of figures: their slope, when growth began, intervals. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SLOPE_H
#define SEEP_SLOPE_H

#include "base/std.h"
#include "analysis/score/life_table.h"

struct slope_point {
	double time_s, value;
};

/* Per second, with a 95 % interval. */
struct slope {
	double middle, low, high;
	double tau; /* Kendall's: 1 if it always rises, -1 if it always falls */
};

/*
 * By Theil and Sen: the median of the slopes of all pairs, and the interval that
 * Kendall's test gives. Takes SLOPE_POINTS at most, equally spaced in time, of
 * points in order of time. False: fewer than 8 points, or no time between them.
 */
enum { SLOPE_POINTS = 64, SLOPE_MIN = 8 };
bool slope_make(const struct slope_point *points, size_t count, struct slope *ret);

/* ---- knee: when growth began ---- */

/*
 * The moment, in seconds, from which on births come at least eight times as fast
 * as before it, if 1000 to 1 speak for such a moment: the best one of a change of
 * rate, and within its slot by the births in it. False: there is none, because
 * they came all the time, or because traffic rises slowly.
 */
bool knee_find(const struct inflow_input *in, double *ret_s);

/* ---- poisson: intervals and probabilities of counts ---- */

/*
 * The 95 % interval around a count n >= 0 of independent events, by Byar's
 * approximation of the exact one.
 */
void poisson_interval(double n, double *ret_low, double *ret_high);

/* The probability of n events or fewer if `mean` are expected. */
double poisson_at_most(double n, double mean);

#endif

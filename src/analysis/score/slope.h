/* slope.h - the slope of a series of points, whatever its outliers are. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SLOPE_H
#define SEEP_SLOPE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif

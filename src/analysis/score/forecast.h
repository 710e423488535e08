/* forecast.h - when growth reaches a limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FORECAST_H
#define SEEP_FORECAST_H

#include <stdbool.h>

#include "analysis/score/score.h"

/* How fast a process grows: the sum of its sites that leak or grow. */
struct forecast_rate {
	double bytes, low, high; /* an hour; with a 95 % interval */
	double seen_s;           /* for so long it was seen */
	/*
	 * What the collector's live map takes for a byte of the heap; 0: it has
	 * no cells for it.
	 */
	double map_share;
};

/*
 * Adds a site. To its blocks, the rounding of the allocator is added, and their
 * part of the collector's live map, which is in the same process.
 */
void forecast_add(struct forecast_rate *to, const struct score *site);

/*
 * Hours until `room` bytes more are used. False: the rate may be 0, less than
 * 10 minutes are known, or it takes longer than 90 days.
 */
struct forecast {
	double hours, low, high;
};
bool forecast_make(const struct forecast_rate *rate, double room, struct forecast *ret);

#endif

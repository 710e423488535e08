/* forecast.c - when growth reaches a limit. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/forecast.h"

#include <math.h>

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

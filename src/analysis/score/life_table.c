/* life_table.c - at which age the blocks of a site die, and which never do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/life_table.h"

#include <math.h>

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

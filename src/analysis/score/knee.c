/* knee.c - when growth began. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/knee.h"

#include <math.h>

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

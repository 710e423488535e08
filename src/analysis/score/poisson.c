/* poisson.c - intervals and probabilities of counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/score/poisson.h"

#include <math.h>

#define Z95 1.959964

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

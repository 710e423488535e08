/* poisson.h - intervals and probabilities of counts. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_POISSON_H
#define SEEP_POISSON_H

/*
 * The 95 % interval around a count n >= 0 of independent events, by Byar's
 * approximation of the exact one.
 */
void poisson_interval(double n, double *ret_low, double *ret_high);

/* The probability of n events or fewer if `mean` are expected. */
double poisson_at_most(double n, double mean);

#endif

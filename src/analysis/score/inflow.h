/* inflow.h - do the live blocks of a site come all the time, or did they come once? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INFLOW_H
#define SEEP_INFLOW_H

#include <stdbool.h>

/* Births of the blocks that live now, in equal parts of a stretch of time. */
enum { INFLOW_SLOTS = 32 };

struct inflow_input {
	double births[INFLOW_SLOTS];
	double until_s;      /* the end of the last slot; the first begins at 0 */
	double from_s, to_s; /* slots outside of these do not count */
};

struct inflow {
	int slots; /* whole ones between from_s and to_s */
	double slot_s;
	double births;      /* in these */
	double span_s;      /* their length */
	int parts, hit;     /* of equal length; those with a birth */
	double quarter[4];  /* births in each quarter of the slots */
	double dispersion;  /* variance of the parts by their mean; >= 1 */
	bool is_everywhere; /* births in most parts */
	bool in_batches;    /* or in all quarters: work that comes every hour */
	bool has_ended;     /* too few in the last quarter */
	bool is_night;      /* but these may be few because of the hour */
};

/*
 * Start-up data, a full cache and a pool at its high-water mark have no births
 * at the end. is_everywhere is false if there are fewer than 4 slots or 5 births.
 */
void inflow_make(const struct inflow_input *in, struct inflow *ret);

/*
 * How much neighbouring slots from from_s on differ: 1 for blocks that come one
 * by one, whether or not their rate follows the day; more if they come in groups
 * or by fits, as in a pool that grows when more is needed than ever before.
 */
double inflow_fits(const double births[INFLOW_SLOTS], double until_s, double from_s);

/* The age, in seconds, of the oldest block of the latest `share` of births. */
double inflow_since(const double births[INFLOW_SLOTS], double until_s, double share);

#endif

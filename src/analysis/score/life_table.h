/* life_table.h - at which age the blocks of a site die, and which never do. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIFE_TABLE_H
#define SEEP_LIFE_TABLE_H

#include <stdbool.h>

/*
 * Class 0 has ages below the unit, class i those from 2^(i-1) to 2^i units; the
 * last one has no upper bound.
 */
enum { LIFE_TABLE_CLASSES = 25 };

struct life_table_input {
	double deaths[LIFE_TABLE_CLASSES]; /* freed at this age */
	double living[LIFE_TABLE_CLASSES]; /* live, and this old now */
	double unit_s;                     /* seconds */
	double life_s;                     /* since the first block of the site */
	bool without_cliff;                /* for a simulation: a tail is 30 % at the least */
};

/*
 * A life table with censoring: a live block has survived all classes below its
 * own, and half of its own. A class is lethal if more than 15 % of the blocks
 * that reach it die in it. The tail begins behind the last lethal class.
 */
struct life_table {
	double freed, all;  /* blocks */
	int knee;           /* the last lethal class; -1: none */
	double tail_s;      /* the age at which the tail begins */
	double survivors;   /* live blocks in the tail */
	double tail_deaths; /* blocks that died in the tail */
	double old_deaths;  /* older than a sixteenth of the site's life */
	/*
	 * ln of the odds that nothing dies in the tail (2 % in a doubling of
	 * the age) against the slowest benign tail: 30 %, or half of what dies
	 * in the last lethal class, because what outlives a cliff, as of a TTL,
	 * is none of a tail that gets thinner slowly. Lifetimes of one site
	 * depend on each other, so a class counts for 16 blocks at most.
	 */
	double flatness;
	double late_flatness; /* the same of the three oldest classes alone */
};

void life_table_make(const struct life_table_input *in, struct life_table *ret);

/* Where a class begins and ends, in seconds; the last one ends like others. */
double life_table_from(int class, double unit_s);
double life_table_to(int class, double unit_s);

#endif

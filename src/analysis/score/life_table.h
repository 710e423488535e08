/* life_table.h - when blocks of a site die, come, and settle. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIFE_TABLE_H
#define SEEP_LIFE_TABLE_H

#include "base/std.h"
#include "session/load/session.h"

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

/* ---- inflow: do the live blocks of a site come all the time, or did they come once? ---- */

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

/* ---- restarts: earlier lives of a program, in which its sites have settled ---- */

/*
 * A history or a folder of recordings has several lives of one program. A site
 * that did not grow at the end of a longer life is rather a cache that fills
 * again than a leak.
 */
struct restarts {
	struct restarts_site *sites; /* by stack */
	size_t count;
	uint64_t *frames;
};

/*
 * The lives of the program of p that ended before p began and were longer: the
 * longest few. Without memory there are none.
 */
void restarts_make(const struct session *s, const struct process *p, struct restarts *ret);
void restarts_release(struct restarts *r);

/*
 * For score_input.settled_s: how long the site with the same stack lived in one
 * of them; 0: in none, or it grew in one. The same build of all its modules.
 */
double restarts_settled_s(
    const struct restarts *r, const struct process *p, const struct process_site *s);

#endif

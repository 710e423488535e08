/* score.h - is a site a leak, does it grow, is it steady, or is it churn? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCORE_H
#define SEEP_SCORE_H

#include "base/std.h"
#include "analysis/score/life_table.h"
#include "analysis/score/slope.h"
#include "session/process/process.h"

/*
 * Judges a site by the ages of its blocks alone: at which age blocks are freed,
 * how old the live ones are, and when these were allocated. docs/SCORE.md has
 * the rules, their reasons, and how often they are right in a simulation.
 */
enum score_class {
	SCORE_NONE = 0, /* nothing can be said (yet) */
	SCORE_LEAK,     /* nearly all others die, these do not, more come */
	SCORE_GROWTH,   /* nothing is ever freed, and more come */
	SCORE_STEADY,   /* live, but none came lately */
	SCORE_CHURN,    /* comes and goes */
};

enum score_basis {
	SCORE_BY_NOTHING = 0,
	SCORE_BY_SIBLINGS, /* other blocks of the site are freed */
	SCORE_BY_INFLOW,   /* when the live blocks were allocated */
};

/* What raised the score; a simulation may leave each one out. */
enum score_feature {
	SCORE_EARLY = 1 << 0,    /* 3 times the age of the tail is enough */
	SCORE_RELEASE = 1 << 1,  /* somebody frees old blocks of the site */
	SCORE_DAYS = 1 << 2,     /* few births at night are no end */
	SCORE_RESTARTS = 1 << 3, /* an earlier life in which it settled */
	SCORE_CLIFF = 1 << 4,    /* siblings that all die at one age */
	SCORE_BATCHES = 1 << 5,  /* work that comes every hour */
	SCORE_FITS = 1 << 6,     /* what grows by fits may be a pool */
	SCORE_ALL = 127,
};

struct score_input {
	struct life_table_input ages;
	double births[INFLOW_SLOTS]; /* of live blocks, from 0 to until_s */
	double until_s;              /* now, since the process began */
	double first_s;              /* the first block of the site, since then */
	double blocks, bytes;        /* live */
	/*
	 * The youngest deaths may be calls of realloc, which is no death: they
	 * are not counted in `ages`, but in this.
	 */
	double moved;
	/* live bytes over time, if known: a block that realloc makes larger */
	const struct slope_point *series;
	size_t series_count;
	/*
	 * The longest earlier life of the program at whose end this site did not
	 * grow; 0: none is known.
	 */
	double settled_s;
	unsigned without; /* bits of enum score_feature; 0: all are used */
};

struct score {
	enum score_class class;
	enum score_basis basis;
	double confidence; /* of LEAK and GROWTH: that it is a leak; 0 to 1 */
	/* LEAK: the blocks that escaped; otherwise: all that are live */
	double blocks, bytes;
	bool has_rate;
	double rate, low, high; /* bytes an hour, with a 95 % interval */
	double freed_share;     /* LEAK, CHURN: of the blocks old enough */
	bool has_releases;      /* GROWTH: some old blocks were freed */
	double within_s;        /* LEAK: the others die within this time */
	double began_s;         /* LEAK, GROWTH: when it began, since the start */
	double built_s;         /* STEADY: the last part came then, since the start */
};

void score_make(const struct score_input *in, struct score *ret);

/* Adds the score of another site: the worse class, or the sum of both. */
void score_join(struct score *to, const struct score *from);

/* "leak", "growth", "steady", "churn"; NULL for SCORE_NONE. */
const char *score_class_key(enum score_class class);

/* "siblings", "inflow"; NULL for none. */
const char *score_basis_key(enum score_basis basis);

/* Growth is probably a leak from this confidence on: 7 h. */
#define SCORE_LIKELY 0.74

/* Nothing is said of a site that is younger. */
#define SCORE_MIN_S 600.0

/* ---- scores: the scores of the sites of a process ---- */

struct session;

/*
 * The ages and births of a site of p as the input of score_make(), as they were
 * at its end, at this moment, or when a recorder read them last. False: they are
 * not known, because its live map was never read.
 */
bool scores_input(const struct process *p, const struct process_site *s, struct score_input *ret);

/*
 * Ages and births of p now, to be stored: p is running, and live_ages_read() has
 * read all of it. -ENOMEM.
 */
struct aging;
int scores_take(const struct process *p, struct aging *ret);

/*
 * The score of a site, by its number; NULL: nothing can be said. All sites of p
 * are judged at the first call, and the result belongs to p. Sites that realloc
 * makes larger are judged by the time line of the session, the largest ones.
 */
const struct score *scores_of(const struct session *s, struct process *p, size_t number);

/* Until when the process was seen, in seconds since it began; 0: not known. */
double scores_until_s(const struct process *p);

/*
 * Is p a running process that has no score although it is old enough, because
 * not all of its live map could be read in time?
 */
bool scores_lack_ages(const struct process *p);

/*
 * SEEP_SCORE_CLOCK=N in our environment: one second of a process counts as N,
 * so that tests see hours pass.
 */
double scores_clock(void);

/* ---- forecast: when growth reaches a limit ---- */

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

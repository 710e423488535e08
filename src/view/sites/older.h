/* older.h - selects live blocks above some age. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OLDER_H
#define SEEP_OLDER_H

#include "base/std.h"
#include "view/sites/view.h"

/*
 * While a process runs, the birth of every block is read from its memory, to
 * a tick (0.1 s). After a pause of a thread, up to 64 of its first blocks may
 * have the tick before the pause, and so count as older than they are.
 *
 * A process that has exited has counted its blocks by age, in steps that double
 * from 1.6 s on: the step below the given age is used, and the report says so.
 *
 * If blocks were not counted (a killed process, a snapshot), a site is older or
 * not by its first and last allocation. If these do not decide, the site is
 * left out, and the report says how much that is.
 */
struct older;

/*
 * -ENOMEM; -ERANGE: a process that has ended has no ages below the first
 * step, OLDER_MIN_NS.
 */
int older_new(const struct session *s, uint64_t age_ns, struct older **ret);

/* NULL is fine. */
void older_free(struct older *o);

/* For view_options.figures: replaces live figures by those of older blocks. */
const struct process_figures *const *older_figures(const struct older *o);

/* The older blocks of one site; zeros for pools. */
struct older_site {
	uint64_t blocks, bytes;
	uint64_t unknown_blocks, unknown_bytes; /* nobody counted their ages */
};

/* Of a site, by its numbers in the session and in the process. */
const struct older_site *older_site(const struct older *o, size_t process, size_t site);

/* What is known of a process, or of all. */
struct older_about {
	uint64_t asked_ns;     /* the age that was asked for */
	uint64_t age_ns;       /* the age that is shown: that, or a step below it */
	bool is_exact;         /* exact to a tick; else in steps */
	bool is_shared;        /* bytes are shared out among blocks of one site */
	bool is_sampled;       /* estimates, from blocks that were sampled */
	struct older_site sum; /* of all sites, before filters */
	uint64_t unknown_sites;
};

/*
 * For one process, or for all (NULL): of several, what holds for each of them.
 */
void older_about(const struct older *o, const struct process *process, struct older_about *ret);

/* Writes sentences about it, one per line; none if there is nothing to say. */
void older_remarks(FILE *out, const struct older_about *a);

#define OLDER_MIN_NS ((uint64_t)SEG_YOUNG_TICKS * SEG_TICK_NS)

#endif

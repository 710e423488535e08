/* scores.h - the scores of the sites of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCORES_H
#define SEEP_SCORES_H

#include "session/process/process.h"
#include "analysis/score/score.h"

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

#endif

/* site_score.h - the score of a site, from what a process knows of its ages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SITE_SCORE_H
#define SEEP_REPORT_SITE_SCORE_H

#include "reader/process.h"
#include "score/score.h"

/*
 * The ages and births of a site of p as the input of score_make(). False: they
 * are not known, because its live map was not read.
 */
bool site_score_input(const struct process *p, const struct process_site *s,
    struct score_input *ret);

#endif

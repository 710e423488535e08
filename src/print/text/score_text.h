/* score_text.h - scores as text: what leaks, grows or is steady, and when it ends. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCORE_TEXT_H
#define SEEP_SCORE_TEXT_H

#include "print/text/body.h"
#include "findings/score_list.h"

/*
 * Prints the lines of one process and its forecast. `top` lines of LEAK and
 * GROWTH at most, 0: all; of STEADY the largest.
 */
void score_text_list(const struct layout *p, const struct process *process,
    const struct score_list *l, unsigned top);

/*
 * All processes that options->view.pid selects, for the beginning of a report.
 * An empty line follows if anything was printed. -ENOMEM.
 */
int score_text_open(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options);

#endif

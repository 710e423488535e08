/* verdict_text.h - verdicts as text: what is lost, and how that is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_VERDICT_TEXT_H
#define SEEP_REPORT_VERDICT_TEXT_H

#include "report/body.h"
#include "report/verdict_list.h"

/*
 * Of one process (process->verdicts, verdict_state()) and the list of its
 * places: a line for each, LEAK first, with its evidence; then a sentence about
 * what was looked at. `top` places at most, 0: all.
 */
void verdict_text_list(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *l, unsigned top);

/*
 * The last sentence alone, by the sums of a list; or that it is not judged.
 * Nothing where nobody was asked to look.
 */
void verdict_text_sentence(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *sums);

/*
 * All processes that options->view.pid chooses, for the opening of a
 * report: those with findings in full, then one sentence about the others. An
 * empty line follows, if there was anything.
 */
int verdict_text_open(const struct layout *p, const struct session *s,
    struct names *names, const struct body_options *options);

#endif

/* verdict_text.h - verdicts as text: what is lost, and how that is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERDICT_TEXT_H
#define SEEP_VERDICT_TEXT_H

#include "print/text/body.h"
#include "findings/verdict_list.h"

/*
 * Prints one process (process->verdicts, verdict_state()) and the list of its
 * sites: a line for each, LEAK first, with its evidence; then a sentence about
 * what was looked at. `top` sites at most, 0: all.
 */
void verdict_text_list(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *l, unsigned top);

/*
 * Only the last sentence, from the sums of a list; or that it is not judged.
 * Nothing if no look was wanted.
 */
void verdict_text_sentence(const struct layout *p, const struct session *s,
    const struct process *process, const struct verdict_list *sums);

/*
 * Prints `before` and who frees other blocks of the site, because there a path
 * may be missing. False: that is not known, and nothing is printed.
 */
bool verdict_text_freers(const struct layout *p, FILE *out, const char *before,
    const struct view *v, const struct view_site *s);

/*
 * All processes that options->view.pid selects, for the beginning of a report:
 * those with findings in full, then one sentence about the others. An empty
 * line follows if anything was printed.
 */
int verdict_text_open(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options);

/*
 * Prints text, which is already escaped, as lists of verdicts are: wrapped, and
 * indented behind `head` of up to eight letters; NULL: without one.
 */
void verdict_text_hang(const struct layout *p, const char *head, const char *text);

/* "app (pid 12)", and "lose app.c:9 <- serve <- main"; site NULL: not known. */
void verdict_text_who(FILE *out, const struct process *p);
void verdict_text_place(
    const struct layout *p, FILE *out, const struct view *v, const struct view_site *s);

#endif

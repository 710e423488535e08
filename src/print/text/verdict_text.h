/* verdict_text.h - what is lost, held, or grows, as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERDICT_TEXT_H
#define SEEP_VERDICT_TEXT_H

#include "findings/by_type.h"
#include "findings/held_view.h"
#include "findings/score_list.h"
#include "print/text/body.h"
#include "print/text/layout.h"
#include "recording/parts/inventory.h"
#include "session/process/process.h"

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

/* ---- score_text: scores as text: what leaks, grows or is steady, and when it ends ---- */

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

/* ---- held_text: who holds what, as text ---- */

/* A sentence for processes of which not all blocks are known. */
#define HELD_TEXT_PARTIAL \
	" Some of its blocks are unknown, because it was sampled, or " \
	"allocated them before the collector started or while recording " \
	"was off: they are in no figure, and may hold others."

/* All that is known of one site; false: it has no live block. */
bool held_text_site(const struct layout *p, const struct held_view *v, uint32_t id);

/* The largest holders, and the sites that retain most; `top`, 0: all. */
void held_text_retained(const struct layout *p, const struct held_view *v, unsigned top);

/* ---- inventory_text: the holders that a recording has stored, as text ---- */

/* One site, and who holds it; false: it is not stored, and nothing is written. */
bool inventory_text_site(const struct layout *p, const struct inventory *v, uint32_t id);

/* The largest holders, and the sites that retain most; `top`, 0: all. -ENOMEM. */
int inventory_text_retained(const struct layout *p, const struct inventory *v, unsigned top);

/* Of what it is, and what is not in it. */
void inventory_text_sentence(const struct layout *page, const struct process *p);

/* ---- by_type_text: a census as text: live blocks by C++ type, and what sites could give
 * back ---- */

/* `top` rows at most, 0: all. */
void by_type_text_write(const struct layout *page, const struct process *p, const struct census *c,
    const struct by_type *t, unsigned top);
/* `top` lines at most, 0: all. */
void spare_text_write(const struct layout *page, const struct process *p, const struct census *c,
    const struct spare *s, unsigned top);

#endif

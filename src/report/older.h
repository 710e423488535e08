/* older.h - of what lives, the blocks that are older than some age. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_OLDER_H
#define SEEP_REPORT_OLDER_H

#include "report/page.h"
#include "report/view.h"

/*
 * While a process runs, the birth of every block is read from its memory, to
 * a tick (0.1 s); the first blocks of a thread after a pause, up to 64, may
 * have the tick of before it, so they count as older than they are. Of one that has exited there are counts of blocks by age, in
 * steps that double from 1.6 s on: then the step below the age that was asked
 * for is taken, and said. Where nobody counted (killed, a snapshot), a site
 * is older, or not, by its first and last allocation; else it is left out, and
 * how much that is is said.
 */
struct older;

/*
 * -ENOMEM; -ERANGE: a process that has ended tells no age below the first
 * step, OLDER_MIN_NS.
 */
int older_new(const struct session *s, uint64_t age_ns, struct older **ret);

/* NULL is fine. */
void older_free(struct older *o);

/* For view_options.figures: what lives is what is older. */
const struct process_figures *const *older_figures(const struct older *o);

/* How much is shown of a process (NULL: of all), and how well it is known. */
void older_write(const struct page *p, const struct older *o,
    const struct process *process, const struct process_figures *shown);

#define OLDER_MIN_NS ((uint64_t)SEG_YOUNG_TICKS * SEG_TICK_NS)

#endif

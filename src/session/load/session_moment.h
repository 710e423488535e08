/* session_moment.h - a recording as it was at an earlier moment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SESSION_MOMENT_H
#define SEEP_SESSION_MOMENT_H

#include "session/load/session.h"

/*
 * Sets all processes back to their figures at a moment of the time line, in
 * microseconds after its start: those of the last look before it. Processes
 * that began later go. What only the end has goes too: peaks, ages, verdicts,
 * and the time line itself. A moment at or after the end changes nothing but
 * that. -ENODATA: there is no time line; -ENOMEM, -EIO.
 */
int session_moment_set_back(struct session *s, uint64_t time_us);

/* The parts of it, for one process. */

/* Gives it figures of its past, by site, and the age that it had then. */
void session_moment_put(
    struct process *p, const struct process_figures *then, uint64_t duration_ns);

/* What only the end has goes. */
void session_moment_drop_ends(struct process *p);

/* The time line and its marks go, and no verdicts are expected. */
void session_moment_drop_line(struct session *s);

#endif

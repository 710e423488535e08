/* summary.h - prints the first paragraph of a report. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SUMMARY_H
#define SEEP_SUMMARY_H

#include "session/load/session.h"
#include "print/text/layout.h"

/*
 * Process, duration, how it ended, live blocks, peak and its time, losses; ends
 * with a newline.
 */
void summary_write(const struct layout *p, const struct process *process);

/* The same for all processes of a session together; pid 0: all. */
void summary_write_all(const struct layout *p, const struct session *s, uint32_t pid);

#endif

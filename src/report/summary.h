/* summary.h - the paragraph that opens a report. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SUMMARY_H
#define SEEP_REPORT_SUMMARY_H

#include "reader/session.h"
#include "report/layout.h"

/*
 * Process, how long, how it ended, live, peak and when, losses; ends with a
 * newline.
 */
void summary_write(const struct layout *p, const struct process *process);

/* The same of all processes of a session, added up; pid 0: all. */
void summary_write_all(
    const struct layout *p, const struct session *s, uint32_t pid);

#endif

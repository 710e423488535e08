/* summary.h - the paragraph that opens a report. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SUMMARY_H
#define SEEP_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "reader/process.h"

/* Process, how long, how it ended, live, peak, losses; ends with a newline. */
void summary_write(FILE *out, const struct process *p, bool colour);

#endif

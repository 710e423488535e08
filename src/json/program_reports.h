/* program_reports.h - what programs reported through seep.h, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_PROGRAM_REPORTS_H
#define SEEP_JSON_PROGRAM_REPORTS_H

#include <stdio.h>

#include "reader/session.h"

/* Which snapshot this is, when and why it was made, and whether SEEP_SIGNAL works. */
void program_reports_snapshot(FILE *out, const struct seg_header *h);

/* The snapshots in the same directory as the input. */
void program_reports_snapshots(FILE *out, const struct session *s);

/* The pools that the program named; they are no part of the totals. */
void program_reports_pools(FILE *out, const struct process *p);

#endif

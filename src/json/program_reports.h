/* program_reports.h - what programs reported by seep.h, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_PROGRAM_REPORTS_H
#define SEEP_JSON_PROGRAM_REPORTS_H

#include <stdio.h>

#include "reader/session.h"

/* Of a snapshot: which one, when, why; and what became of SEEP_SIGNAL. */
void json_snapshot_of(FILE *out, const struct seg_header *h);

/* The snapshots that lie beside what was read. */
void json_snapshots(FILE *out, const struct session *s);

/* What the program called its resources; no part of the totals. */
void json_pools(FILE *out, const struct process *p);

#endif

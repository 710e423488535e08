/* program_reports.h - what programs reported through seep.h, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROGRAM_REPORTS_H
#define SEEP_PROGRAM_REPORTS_H

#include "kit/json/json_put.h"
#include "session/load/session.h"

/*
 * The number, time and reason of this snapshot, and whether SEEP_SIGNAL works.
 */
void program_reports_snapshot(struct json *out, const struct seg_header *h);

/* The other snapshots in the directory of the input. */
void program_reports_snapshots(struct json *out, const struct session *s);

/* The pools that the program named; the totals do not include them. */
void program_reports_pools(struct json *out, const struct process *p);

#endif

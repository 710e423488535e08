/* json_parts.h - parts of a process as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_PARTS_H
#define SEEP_JSON_PARTS_H

#include "kit/json/json_put.h"
#include "print/json/processes.h"
#include "session/load/session.h"
#include "view/sites/ages.h"
#include "view/sites/older.h"
#include "view/sites/view.h"

/* ---- json_older: blocks above some age, as JSON ---- */

/* Of a process: "older", an object; nothing if `o` is NULL. */
void json_older_process(struct json *out, const struct older *o, const struct process *p);

/* ---- log_json: what only an event log knows, as JSON ---- */

/* Both begin with a comma, and write nothing if no log was read. */

/* Of a process: "log", an object. */
void log_json_process(struct json *out, const struct process *p);

/* Of a site of one process: "lifetimes", an object. */
void log_json_site(struct json *out, const struct view *v, const struct view_site *s);

/* ---- mappings_json: mappings by caller as JSON ---- */

/*
 * Writes ,"mappings":{...} of a process that has recorded them, else nothing.
 * Filters of the options apply. -ENOMEM.
 */
int json_mappings(struct json *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct json_writer *w);

/* ---- program_reports: what programs reported through seep.h, as JSON ---- */

/*
 * The number, time and reason of this snapshot, and whether SEEP_SIGNAL works.
 */
void program_reports_snapshot(struct json *out, const struct seg_header *h);

/* The other snapshots in the directory of the input. */
void program_reports_snapshots(struct json *out, const struct session *s);

/* The pools that the program named; the totals do not include them. */
void program_reports_pools(struct json *out, const struct process *p);

/* ---- rss_json: the account of resident memory as JSON ---- */

/* ,"rss":{...} of a process; nothing if nobody has read it. */
void rss_json_process(struct json *out, const struct process *p);

/*
 * ,"holds_bytes":N,"pins_bytes":N of a site; nothing if the pages of its
 * process were not shared out. p: NULL if it belongs to several.
 */
void rss_json_site(struct json *out, const struct process *p, const struct view_figures *f);

/* ---- score_json: how fast a process grows, and until when, as JSON ---- */

/*
 * Writes ,"growth":{...} of a process; nothing if it has no scores, because it
 * was seen for less than 10 minutes or the ages of its blocks are not known.
 */
void score_json_process(struct json *out, const struct session *s, const struct process *p);

#endif

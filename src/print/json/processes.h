/* processes.h - one process as JSON, with its totals, modules and sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCESSES_H
#define SEEP_PROCESSES_H

#include "findings/score_list.h"
#include "kit/json/json_put.h"
#include "print/json/figures.h"
#include "session/load/session.h"
#include "session/timeline/timeline.h"
#include "view/sites/older.h"
#include "view/sites/view.h"

/* ---- frames_table: the stacks of a view as JSON ---- */

/*
 * The texts of a view's frames. Stacks share frames and a text takes a while to
 * make, so each text is made once and then copied.
 */
struct frames_table;

/*
 * The frames of several views, each stored once: "frames" of the shared form.
 */
struct frames_shared;

/* The caller owns it. -ENOMEM. */
int frames_table_shared_new(struct frames_shared **ret);

/* NULL is allowed. */
void frames_table_shared_free(struct frames_shared *t);

/* Writes ,"frames":[...] with all frames that sites have referred to. */
void frames_table_shared_put(struct json *out, const struct frames_shared *t);

/*
 * Borrows the view and the table; the caller owns the result. If the table is
 * NULL, sites have their frames in full. -ENOMEM.
 */
int frames_table_new(const struct view *v, struct frames_shared *table, struct frames_table **ret);

/* NULL is allowed. */
void frames_table_free(struct frames_table *j);

/*
 * Writes ,"frames":[...],"recursion":null or how often each frame repeats. In
 * the shared form, frames are positions in the table, and keys with null are
 * left out. -ENOMEM.
 */
int frames_table_put(struct json *out, struct frames_table *j, const struct view_site *s);

/*
 * Writes "function":...,"file":...,"line":...,"module":... of one frame, without
 * braces; unknown values are null. `file` is the path to be written for it.
 */
void frames_table_put_source(struct json *out, const struct frame *x, const char *file);

/* The same with the frame's own path, and then its "offset". */
void frames_table_put_place(struct json *out, const struct frame *x);

/* Bytes of frames so far, if they are written in full. */
uint64_t frames_table_bytes(const struct frames_table *j);

/* ---- series: figures over time as JSON: of a process and of its sites ---- */

/*
 * Writes ,"name":{"times_us":[...],...}, an array for each figure; null if
 * there are no points.
 */
void series_put(
    struct json *out, const char *name, const struct process_point *points, size_t count);

/*
 * The series of the sites of a process that have one, ordered by site. Empty if
 * there is no time line or not enough memory.
 */
struct series_list {
	struct timeline_series *list;
	size_t count, next;
};

void series_list_init(struct series_list *c, const struct session *s, const struct process *p);

void series_list_release(struct series_list *c);

/* Does this site have a series? Call this for sites in ascending order. */
bool series_list_has(struct series_list *c, size_t site);

/* Writes ,"series": of that site, or null. */
void series_list_put(struct json *out, struct series_list *c, size_t site);

/* ---- sites_json: the sites of a view as JSON ---- */

/* Data that all parts of one JSON object share. */
struct json_writer {
	struct frames_shared *table; /* NULL: write frames in full */
	const struct older *older;   /* NULL: series are not wanted */
	uint64_t bytes;              /* sites so far in full, estimated */
};

/*
 * Writes ,"sites":[...] of one process, or of several together (p is NULL, no
 * series). -ENOMEM.
 */
int json_sites(struct json *out, const struct view *v, const struct process *p,
    struct series_list *series, struct json_writer *w);

/*
 * Writes ,"temporary_within_ms": the age below which a block is temporary, or
 * null.
 */
void json_sites_temporary(struct json *out, const struct view *v);

/* Writes ,"name":{...}: the sums of sites that were selected, or left out. */
void json_sites_sum(struct json *out, const char *name, const struct view_sum *sum);

/* ---- processes: one process as JSON, with its totals, modules and sites ---- */

/* Writes an object with all sites that the options select. -ENOMEM. */
int json_processes_put(struct json *out, const struct session *s, const struct process *p,
    struct names *names, const struct view_options *options, struct json_writer *w);

/* Writes ,"command":[...], its arguments. */
void json_processes_command(struct json *out, const struct seg_header *h);

/* Writes ,"name":{...}: the counters of one class of enum losses_class. */
void json_processes_counts(
    struct json *out, const char *name, const struct seg_header *h, int class);

/* "place_refused", if SEEP_DIR or SEEP_BASE is unfit; else nothing. */
void json_processes_place(struct json *out, const struct seg_header *h);

/* ---- verdict_json: verdicts as JSON ---- */

/*
 * Writes the object of a site, or null: the object of class LEAK if there is
 * one, with the other class under its key "also". Nothing is written before it.
 */
void verdict_json_site(struct json *out, const struct view *v, const struct view_site *s);

/* The same for one class; v and s may be NULL if the stack is not known. */
void verdict_json_part(struct json *out, const struct view *v, const struct view_site *s,
    uint32_t class, const struct verdict_part *p);

/* "rate", "rate_low", "rate_high" */
void verdict_json_rate(struct json *out, bool is_known, double bytes, double low, double high);

/* By ages alone: s->score, and who holds the blocks; NULL: not known. */
void verdict_json_score(
    struct json *out, const struct view *v, const struct view_site *s, const char *held_by);

/* Writes ,"leaks":{...} of a process; nothing if no look was wanted. */
void verdict_json_process(struct json *out, const struct session *s, const struct process *p);

#endif

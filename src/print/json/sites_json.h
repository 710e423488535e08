/* sites_json.h - the sites of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SITES_JSON_H
#define SEEP_SITES_JSON_H

#include "kit/json/json_put.h"
#include "print/json/frames_table.h"
#include "print/json/series.h"
#include "view/sites/older.h"
#include "view/sites/view.h"

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

#endif

/* series.h - figures over time as JSON: of a process and of its sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERIES_H
#define SEEP_SERIES_H

#include "kit/json/json_put.h"
#include "session/load/session.h"
#include "session/timeline/timeline.h"

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

#endif

/* frames_table.h - the stacks of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_FRAMES_TABLE_H
#define SEEP_JSON_FRAMES_TABLE_H

#include <stdio.h>

#include "report/view.h"

/*
 * Stacks share their frames, and a frame's text takes a while to make: each is
 * made once and then copied.
 */
struct frames_table;

/* Frames of several views, each once: the shared form. */
struct json_table;

/* -ENOMEM. */
int json_table_new(struct json_table **ret);

/* NULL is fine. */
void json_table_free(struct json_table *t);

/* ,"frames":[...] with all that sites have referred to */
void json_table_put(FILE *out, const struct json_table *t);

/* Borrows both; table NULL: sites have their frames in full. -ENOMEM. */
int frames_table_new(
    const struct view *v, struct json_table *table, struct frames_table **ret);

/* NULL is fine. */
void frames_table_free(struct frames_table *j);

/*
 * ,"frames":[...],"recursion":null or how often each frame repeats. In the
 * shared form positions in the table; what is null is left out. -ENOMEM.
 */
int frames_table_put(
    FILE *out, struct frames_table *j, const struct view_site *s);

/* Bytes of frames so far, in full. */
uint64_t frames_table_bytes(const struct frames_table *j);

#endif

/* json_frames.h - the stacks of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_JSON_FRAMES_H
#define SEEP_REPORT_JSON_FRAMES_H

#include <stdio.h>

#include "report/view.h"

/*
 * Stacks share their frames, and a frame's text takes a while to make: each is
 * made once and then copied.
 */
struct json_frames;

/* Frames of several views, each once: the shared form. */
struct json_table;

/* -ENOMEM. */
int json_table_new(struct json_table **ret);

/* NULL is fine. */
void json_table_free(struct json_table *t);

/* ,"frames":[...] with all that sites have referred to */
void json_table_put(FILE *out, const struct json_table *t);

/* Borrows both; table NULL: sites have their frames in full. -ENOMEM. */
int json_frames_new(
    const struct view *v, struct json_table *table, struct json_frames **ret);

/* NULL is fine. */
void json_frames_free(struct json_frames *j);

/*
 * ,"frames":[...],"recursion":null or how often each frame repeats. In the
 * shared form positions in the table; what is null is left out. -ENOMEM.
 */
int json_frames_put(
    FILE *out, struct json_frames *j, const struct view_site *s);

/* Bytes of frames so far, in full. */
uint64_t json_frames_bytes(const struct json_frames *j);

#endif

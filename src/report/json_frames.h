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

/* Borrows the view. -ENOMEM. */
int json_frames_new(const struct view *v, struct json_frames **ret);

/* NULL is fine. */
void json_frames_free(struct json_frames *j);

/* ,"frames":[...],"recursion":null or how often each frame repeats */
void json_frames_put(
    FILE *out, struct json_frames *j, const struct view_site *s);

#endif

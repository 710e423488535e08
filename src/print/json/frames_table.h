/* frames_table.h - the stacks of a view as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FRAMES_TABLE_H
#define SEEP_FRAMES_TABLE_H

#include "kit/json/json_put.h"
#include "view/sites/view.h"

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

#endif

/* functions.h - the functions of a view's frames, numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUNCTIONS_H
#define SEEP_FUNCTIONS_H

#include "view/sites/view.h"

/* Frames of equal function, module and source file are of one. */
struct functions;

/* -ENOMEM. */
int functions_new(const struct view *v, struct functions **ret);

/* NULL is fine. */
void functions_free(struct functions *f);

/* The number of a frame's function, as they come up: 0, 1, ... -ENOMEM. */
int functions_find(struct functions *f, uint32_t frame, uint32_t *ret);

size_t functions_count(const struct functions *f);

/* One frame of it. */
const struct frame *functions_frame(const struct functions *f, uint32_t number);

#endif

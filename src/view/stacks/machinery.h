/* machinery.h - functions with which a runtime calls functions of its language. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MACHINERY_H
#define SEEP_MACHINERY_H

#include "view/stacks/frames.h"

/*
 * The language whose runtime calls by this function; MAPNAME_NATIVE: none. Like
 * frame.weight it is the same for all frames with one label.
 */
enum mapname_language machinery_of(const struct frame *x);

/*
 * Leaves out frames between two functions of one language that are all
 * machinery of that language. Returns how many frames remain.
 */
size_t machinery_leave_out(const struct frame *frames, uint32_t *stack, size_t count);

#endif

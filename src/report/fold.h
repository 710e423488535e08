/* fold.h - recursion in a stack, folded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_FOLD_H
#define SEEP_REPORT_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "report/frames.h"

enum { FOLD_PERIOD = 16 }; /* longer cycles of functions stay as they are */

/*
 * Functions that follow themselves, or a cycle of functions that follows
 * itself, are kept once: a a a b c b c gives a b c. The first kept frame of
 * each gets in `repeats` how often it came, the others 1. Returns how many
 * frames remain; both arrays have `count` entries.
 */
size_t fold_stack(const struct frame *frames, uint32_t *numbers,
    uint16_t *repeats, size_t count);

#endif

/* fold.h - folds recursion in a stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOLD_H
#define SEEP_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "view/stacks/frames.h"

enum { FOLD_PERIOD = 16 }; /* longer cycles of functions are not folded */

/*
 * A function that follows itself, or a cycle of functions that does, is kept
 * once: a a a b c b c gives a b c. `repeats` of the first kept frame says how
 * often it came; of the others it is 1. Returns how many frames remain; both
 * arrays have `count` entries.
 */
size_t fold_stack(const struct frame *frames, uint32_t *numbers, uint16_t *repeats, size_t count);

#endif

/* blame.h - decides which frame of a stack is the user's own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BLAME_H
#define SEEP_BLAME_H

#include "view/stacks/frames.h"

/* How much a frame says about where a block comes from. */
enum blame_weight {
	BLAME_NONE,    /* a sentence instead of frames */
	BLAME_SYSTEM,  /* libc, loader */
	BLAME_LIBRARY, /* inside a standard library, or a wrapper of malloc */
	BLAME_OWN,
};

/* enum blame_weight, as frame.weight has it. */
uint8_t blame_weigh(const struct frame *x);

/*
 * The position of the frame that heads a site: the innermost one of the user's
 * own code; if there is none, of a library; else the innermost. `stack` has
 * numbers of `frames`.
 */
uint32_t blame_find(const struct frame *frames, const uint32_t *stack, uint32_t count);

/* Is this libc or the loader? Their names depend on debug packages. */
bool blame_is_system(const char *module);

/*
 * Does this demangled name belong to a standard library or a wrapper of malloc?
 */
bool blame_is_library(const char *function);

#endif

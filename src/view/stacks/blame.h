/* blame.h - decides which frame of a stack is the user's own, and shortens the rest. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BLAME_H
#define SEEP_BLAME_H

#include "base/std.h"
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

/* ---- machinery: functions with which a runtime calls functions of its language ---- */

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

/* ---- wrappers: well-known functions that only pass an allocation on ---- */

/* Is a function of this demangled name a well-known allocator wrapper? */
bool wrappers_has(const char *function);

/* ---- fold: folds recursion in a stack ---- */

enum { FOLD_PERIOD = 16 }; /* longer cycles of functions are not folded */

/*
 * A function that follows itself, or a cycle of functions that does, is kept
 * once: a a a b c b c gives a b c. `repeats` of the first kept frame says how
 * often it came; of the others it is 1. Returns how many frames remain; both
 * arrays have `count` entries.
 */
size_t fold_stack(const struct frame *frames, uint32_t *numbers, uint16_t *repeats, size_t count);

/* ---- shorten: short names of C++ and Rust functions ---- */

/*
 * Without parameters, return type and qualifiers, and with "<...>" for template
 * arguments: "void std::vector<int, std::allocator<int> >::f<char>( int) const"
 * becomes "std::vector<...>::f<...>". Names of C are not changed. The caller
 * frees it; NULL: out of memory.
 */
char *shorten_name(const char *name);

#endif

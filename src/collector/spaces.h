/* spaces.h - code that the loader binds to another malloc than ours. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SPACES_H
#define SEEP_COLLECTOR_SPACES_H

#include <stdbool.h>

#include "base/attr.h"

/*
 * What dlmopen loads, and LD_AUDIT, is bound to a libc of its own, past us. We
 * cannot count there, but we can say so. The loader keeps a list for debuggers
 * which only grows, in memory that is never given back: it is read without a
 * lock. `debug` is _r_debug; NULL, or a glibc before 2.35: nothing is said.
 * Likewise of libraries in front of us in the search order that have a malloc:
 * they are called instead of us, and may or may not pass calls on.
 */
void spaces_init(const void *debug);

/* Writes what is known into the header of a new segment. */
void spaces_tell(void);

/*
 * A module is about to be loaded with RTLD_DEEPBIND: it, and what is loaded for
 * it, looks for malloc in libc before it looks here. Counted, and marked if
 * there is a segment to tell it to; else spaces_tell() does it later.
 */
void spaces_deepbind(const char *file, bool tell);

extern SEEP_HIDDEN const int *spaces_version;

/* Counts them into the header. */
void spaces_count(void);

/* Now and then, by whoever is in a hook: one load. */
SEEP_INLINE void
spaces_look(void)
{
	if (unlikely(LOAD_ACQUIRE(spaces_version) > 1))
		spaces_count();
}

#endif

/* spaces.h - namespaces of the loader beside ours: each has its own heap. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SPACES_H
#define SEEP_COLLECTOR_SPACES_H

#include "base/attr.h"

/*
 * What dlmopen loads, and LD_AUDIT, is bound to a libc of its own, past us. We
 * cannot count there, but we can say so. The loader keeps a list for debuggers
 * which only grows, in memory that is never given back: it is read without a
 * lock. `debug` is _r_debug; NULL, or a glibc before 2.35: nothing is said.
 */
void spaces_init(const void *debug);

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

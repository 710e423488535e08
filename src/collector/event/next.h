/* next.h - the allocator that our hooks forward to. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NEXT_H
#define SEEP_NEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/*
 * The next definition after ours in the search order (RTLD_NEXT): libc's, or
 * jemalloc, tcmalloc, mimalloc where they are loaded. Valid once next_ready()
 * has returned; the fast path is entered only after that.
 */
struct next {
	void *(*malloc)(size_t);
	void (*free)(void *);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	bool has_bootstrap; /* there are blocks of bootstrap.h */
	bool complete;      /* written last */
	void *(*reallocarray)(void *, size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	int (*dlclose)(void *);
	void *(*dlopen)(const char *, int);
	void *(*dlmopen)(long, const char *, int);
} __attribute__((aligned(64)));

extern SEEP_HIDDEN struct next next;

/*
 * Makes `next` usable; cheap if it is. Never fails, because before our own
 * relocation bootstrap.h serves requests.
 */
void next_ready(void);

/*
 * Finds the real functions. A thread that is READY, DORMANT, OFF or SAMPLING
 * need not call it, because they were found before it got into that state.
 */
SEEP_INLINE void next_need(void)
{
	if (unlikely(!next.complete))
		next_ready();
}

#endif

/* next.h - the real allocator, and what serves before it is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_NEXT_H
#define SEEP_COLLECTOR_NEXT_H

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
	bool pooled;   /* some blocks are from the pool */
	bool complete; /* written last */
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
 * Makes `next` usable; cheap when it is. Never fails: before our own
 * relocation (an IFUNC resolver that allocates) requests are served from a
 * small pool whose blocks are recognised for ever.
 */
void next_ready(void);

/* Is this one of the pool's blocks? They are never freed. */
bool next_is_pool(const void *p);

/* realloc of such a block: a new one with its content. */
void *next_leave_pool(const void *old, size_t size);

/*
 * By name in the whole process, or behind us. A name that is absent makes
 * dlerror's buffer come and go on the host's heap: ask only for what is there
 * in any host that we serve.
 */
void *next_symbol(const char *name);
void *next_after_us(const char *name);

#endif

/* next.h - the allocator that our hooks forward to, and calls from inside of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NEXT_H
#define SEEP_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	bool has_bootstrap; /* there are blocks of next.h */
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
 * relocation next.h serves requests.
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

/* ---- bootstrap: memory for calls that come before our own relocation ---- */

/*
 * While the loader relocates another library, an IFUNC resolver of it may
 * allocate. No code that serves it may use a pointer that is initialised
 * statically, or call through the PLT. Its blocks come from a mapping of our
 * own and are never freed. There is one thread only. The functions set no
 * errno; NULL means that there is no memory.
 */
SEEP_HIDDEN void *bootstrap_alloc(size_t align, size_t size);
SEEP_HIDDEN void *bootstrap_malloc(size_t size);
SEEP_HIDDEN void bootstrap_free(void *p); /* does nothing */
SEEP_HIDDEN void *bootstrap_calloc(size_t n, size_t size);
SEEP_HIDDEN void *bootstrap_realloc(void *old, size_t size);
SEEP_HIDDEN void *bootstrap_reallocarray(void *old, size_t n, size_t size);
SEEP_HIDDEN int bootstrap_posix_memalign(void **ret, size_t align, size_t size);
SEEP_HIDDEN void *bootstrap_valloc(size_t size);
SEEP_HIDDEN void *bootstrap_pvalloc(size_t size);

/* Is this a block from here? Any thread may ask, at any time. */
SEEP_HIDDEN bool bootstrap_owns(const void *p);

/* realloc of such a block later: one of next.malloc() with its content. */
SEEP_HIDDEN void *bootstrap_move(const void *old, size_t size);

/* ---- within: does a call come from the allocator itself, or from us? ---- */

/*
 * An allocator may serve one of its functions by another one: tcmalloc's valloc
 * jumps to tc_memalign, and jemalloc's operator new may call mallocx. If both
 * are hooked, the block must be counted once, where the host has called. So
 * calls whose return address is in the allocator, in libseep.so or in one of its
 * companions are not counted.
 */
enum { WITHIN_MAX = 8 };
struct within {
	uint64_t start, bytes;
};
extern SEEP_HIDDEN struct within within_ranges[WITHIN_MAX];
extern SEEP_HIDDEN uint32_t within_count;

/* A companion (companion.h) was loaded here. Constructors only. */
void within_add_companion(const void *start, size_t bytes);

/* The object with this function is the allocator. Constructors only. */
void within_add_module(const void *function);

SEEP_INLINE bool within_is(uint64_t pc)
{
	uint32_t i, count = LOAD_ACQUIRE(&within_count);

	for (i = 0; i < count; i++)
		if (pc - within_ranges[i].start < within_ranges[i].bytes)
			return true;
	return false;
}

#endif

/* unwind.c - a stand-in for tracers that call an unwinder at each malloc. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * memtrail, bytehound and others walk the stack with libunwind at every
 * allocation. They are not packaged for Debian; this does the part they have
 * in common and nothing else: unw_backtrace(), then a hash of the result and
 * a count in a table. No live map, no file, no symbols: a lower bound of what
 * such a tool costs, not a measurement of any of them.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <stdint.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

enum { FRAMES = 64, TABLE = 1 << 16 };

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static uint64_t counts[TABLE];
static _Thread_local int inside;

static __attribute__((noinline, cold)) void find_next(void)
{
	/* dlsym of a name that exists does not allocate in glibc */
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
}

static __attribute__((noinline)) void trace(void)
{
	void *frames[FRAMES];
	uint64_t h = 0;
	int n;

	if (inside)
		return;
	inside = 1;
	n = unw_backtrace(frames, FRAMES);
	for (int i = 0; i < n; i++)
		h = (h ^ (uint64_t)(uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
	__atomic_fetch_add(&counts[h >> 48], 1, __ATOMIC_RELAXED);
	inside = 0;
}

EXPORT void *malloc(size_t size)
{
	void *p;

	if (!next_malloc)
		find_next();
	p = next_malloc(size);
	trace();
	return p;
}

EXPORT void free(void *p)
{
	if (!next_free)
		find_next();
	next_free(p);
}

EXPORT void *calloc(size_t count, size_t size)
{
	void *p;

	if (!next_calloc)
		find_next();
	p = next_calloc(count, size);
	trace();
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	void *p;

	if (!next_realloc)
		find_next();
	p = next_realloc(old, size);
	trace();
	return p;
}

/* floor.c - what interposition alone costs: forward, and count in one word. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The least any preloaded profiler can do. The benchmark measures it beside
 * seep, so that the part which is nobody's merit or fault is known.
 */
#include <dlfcn.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static _Thread_local unsigned long events;

static __attribute__((noinline, cold)) void find_next(void)
{
	/* dlsym of a name that exists does not allocate in glibc */
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
}

EXPORT void *malloc(size_t size)
{
	void *p;

	if (__builtin_expect(!next_malloc, 0))
		find_next();
	p = next_malloc(size);
	events++;
	return p;
}

EXPORT void free(void *p)
{
	if (__builtin_expect(!next_free, 0))
		find_next();
	events++;
	next_free(p);
}

EXPORT void *calloc(size_t count, size_t size)
{
	void *p;

	if (__builtin_expect(!next_calloc, 0))
		find_next();
	p = next_calloc(count, size);
	events++;
	return p;
}

EXPORT void *realloc(void *old, size_t size)
{
	void *p;

	if (__builtin_expect(!next_realloc, 0))
		find_next();
	p = next_realloc(old, size);
	events++;
	return p;
}

/* jemalloc.c - libseep-jemalloc.so: functions with names of jemalloc's own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "companion/companion.h"
#include "format/format.h"

/*
 * mallocx, rallocx, xallocx, dallocx and sdallocx. `flags` (alignment, zeroes,
 * arena, thread cache) are passed on. sallocx and nallocx neither allocate nor
 * free. The functions that jemalloc has under the names of the malloc family
 * are hooked by libseep.so.
 *
 * `seep record` preloads this library for programs that use libjemalloc.so. A
 * child that does not use it inherits LD_PRELOAD, and finds mallocx here where
 * there is no next one. So that it works even then, it is made of malloc.
 */
extern void *malloc(size_t size);
extern void *calloc(size_t n, size_t size);
extern void *realloc(void *old, size_t size);
extern void *memalign(size_t align, size_t size);
extern void free(void *p);
extern size_t malloc_usable_size(void *p);

SEEP_EXPORT void *mallocx(size_t size, int flags);
SEEP_EXPORT void *rallocx(void *p, size_t size, int flags);
SEEP_EXPORT size_t xallocx(void *p, size_t size, size_t extra, int flags);
SEEP_EXPORT void dallocx(void *p, int flags);
SEEP_EXPORT void sdallocx(void *p, size_t size, int flags);

/* Of `flags`, see jemalloc(3). */
enum {
	FLAGS_LOG_ALIGN = 63, /* MALLOCX_LG_ALIGN */
	FLAGS_ZERO = 64,      /* MALLOCX_ZERO */
	MALLOC_LOG_ALIGN = 4, /* malloc aligns to 16 in any case */
};

enum { MALLOCX, RALLOCX, XALLOCX, DALLOCX, SDALLOCX, NEXT_COUNT };

static struct companion_next next[NEXT_COUNT] = {
    [MALLOCX] = {NULL, "mallocx"},
    [RALLOCX] = {NULL, "rallocx"},
    [XALLOCX] = {NULL, "xallocx"},
    [DALLOCX] = {NULL, "dallocx"},
    [SDALLOCX] = {NULL, "sdallocx"},
};

__attribute__((constructor)) static void jemalloc_start(void)
{
	companion_start(next, NEXT_COUNT);
}

/* ---- without jemalloc ----------------------------------------------------- */

static void *plain_mallocx(size_t size, int flags)
{
	const int align = flags & FLAGS_LOG_ALIGN;
	void *p;

	if (align <= MALLOC_LOG_ALIGN)
		return flags & FLAGS_ZERO ? calloc(1, size) : malloc(size);
	p = memalign((size_t)1 << align, size);
	if (p && flags & FLAGS_ZERO)
		memset(p, 0, size);
	return p;
}

static void *plain_rallocx(void *old, size_t size, int flags)
{
	const size_t had = malloc_usable_size(old);
	char *p;

	if ((flags & FLAGS_LOG_ALIGN) <= MALLOC_LOG_ALIGN) {
		p = realloc(old, size);
		if (p && flags & FLAGS_ZERO && size > had)
			memset(p + had, 0, size - had);
		return p;
	}
	p = plain_mallocx(size, flags);
	if (p) {
		memcpy(p, old, size < had ? size : had);
		free(old);
	}
	return p;
}

/* ---- with it -------------------------------------------------------------- */

SEEP_EXPORT void *mallocx(size_t size, int flags)
{
	CPU_CALLER(c);
	__typeof__(&mallocx) call;
	void *p;

	COMPANION_NEXT(call, &next[MALLOCX]);
	if (unlikely(!call))
		return plain_mallocx(size, flags);
	p = call(size, flags);
	if (p && seep_next_allocated)
		seep_next_allocated(p, size, &c, SEG_API_MALLOCX);
	return p;
}

static void *move(void *old, size_t size, size_t flags)
{
	__typeof__(&rallocx) call;

	COMPANION_NEXT(call, &next[RALLOCX]);
	return call(old, size, (int)flags);
}

SEEP_EXPORT void *rallocx(void *p, size_t size, int flags)
{
	CPU_CALLER(c);
	__typeof__(&rallocx) call;

	COMPANION_NEXT(call, &next[RALLOCX]);
	if (unlikely(!call))
		return plain_rallocx(p, size, flags);
	if (!seep_next_resize)
		return call(p, size, flags);
	return seep_next_resize(p, size, &c, SEG_API_RALLOCX, move, (size_t)(unsigned)flags);
}

/* The block has its new size already. */
static void *stay(void *old, size_t size, size_t unused)
{
	(void)size;
	(void)unused;
	return old;
}

/*
 * Returns the size that the block really has now. If that is less than `size`,
 * nothing has changed. Otherwise the host may use `extra` bytes more, as far as
 * they are there, so these are counted.
 */
SEEP_EXPORT size_t xallocx(void *p, size_t size, size_t extra, int flags)
{
	CPU_CALLER(c);
	__typeof__(&xallocx) call;
	size_t real, asked;

	COMPANION_NEXT(call, &next[XALLOCX]);
	if (unlikely(!call))
		return malloc_usable_size(p);
	real = call(p, size, extra, flags);
	if (real < size || !seep_next_resize)
		return real;
	if (__builtin_add_overflow(size, extra, &asked) || asked > real)
		asked = real;
	seep_next_resize(p, asked, &c, SEG_API_XALLOCX, stay, 0);
	return real;
}

SEEP_EXPORT void dallocx(void *p, int flags)
{
	__typeof__(&dallocx) call;

	COMPANION_NEXT(call, &next[DALLOCX]);
	if (unlikely(!call)) {
		free(p);
		return;
	}
	if (seep_next_freeing)
		seep_next_freeing(p, (uint64_t)(uintptr_t)__builtin_return_address(0));
	call(p, flags);
}

SEEP_EXPORT void sdallocx(void *p, size_t size, int flags)
{
	__typeof__(&sdallocx) call;

	COMPANION_NEXT(call, &next[SDALLOCX]);
	if (unlikely(!call)) {
		free(p);
		return;
	}
	if (seep_next_freeing)
		seep_next_freeing(p, (uint64_t)(uintptr_t)__builtin_return_address(0));
	call(p, size, flags);
}

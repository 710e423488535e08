/* next.c - the allocator that our hooks forward to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/next.h"

#include <errno.h>
#include <string.h>

#include "base/attr.h"
#include "collector/segment/loader.h"
#include "base/cpu/cpu.h"

/* All are weak, as those of loader.c. */
extern void *__libc_malloc(size_t) SEEP_WEAK;
extern void __libc_free(void *) SEEP_WEAK;
extern void *__libc_calloc(size_t, size_t) SEEP_WEAK;
extern void *__libc_realloc(void *, size_t) SEEP_WEAK;
extern void *__libc_memalign(size_t, size_t) SEEP_WEAK;

struct next next SEEP_HOT;
static int resolving;

/*
 * If the next allocator lacks a function, it is made of those that every
 * allocator has, in the same way as libc would.
 */
static void *own_reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return next.realloc(p, bytes);
}

static int own_posix_memalign(void **ret, size_t align, size_t size)
{
	int saved = errno;
	void *p;

	if (align % sizeof(void *) || !align || (align & (align - 1)))
		return EINVAL;
	p = next.memalign(align, size);
	errno = saved;
	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

static void *own_valloc(size_t size)
{
	return next.memalign(CPU_PAGE, size);
}

static void *own_pvalloc(size_t size)
{
	return next.memalign(CPU_PAGE, cpu_page_up(size));
}

/* Until RTLD_NEXT is known: glibc by its private names, or bootstrap.c. */
static void use_first(void)
{
	if (__libc_malloc && __libc_free && __libc_calloc && __libc_realloc && __libc_memalign) {
		next.malloc = __libc_malloc;
		next.free = __libc_free;
		next.calloc = __libc_calloc;
		next.realloc = __libc_realloc;
		next.memalign = __libc_memalign;
		next.aligned_alloc = __libc_memalign;
		next.reallocarray = own_reallocarray;
		next.posix_memalign = own_posix_memalign;
		next.valloc = own_valloc;
		next.pvalloc = own_pvalloc;
	} else {
		next.malloc = bootstrap_malloc;
		next.free = bootstrap_free;
		next.calloc = bootstrap_calloc;
		next.realloc = bootstrap_realloc;
		next.memalign = bootstrap_alloc;
		next.aligned_alloc = bootstrap_alloc;
		next.reallocarray = bootstrap_reallocarray;
		next.posix_memalign = bootstrap_posix_memalign;
		next.valloc = bootstrap_valloc;
		next.pvalloc = bootstrap_pvalloc;
	}
}

/* A function that dlsym finds, or the fallback. */
#define RESOLVE(name, fallback) \
	do { \
		void *sym_ = loader_after_us(#name); \
		__typeof__(next.name) fn_ = fallback; \
		if (sym_) \
			memcpy(&fn_, &sym_, sizeof(fn_)); \
		next.name = fn_; \
	} while (0)

static void resolve(void)
{
	struct next boot = next;

	loader_ready();
	RESOLVE(malloc, boot.malloc);
	RESOLVE(free, boot.free);
	RESOLVE(calloc, boot.calloc);
	RESOLVE(realloc, boot.realloc);
	RESOLVE(memalign, boot.memalign);
	RESOLVE(reallocarray, own_reallocarray);
	RESOLVE(aligned_alloc, next.memalign);
	RESOLVE(posix_memalign, own_posix_memalign);
	RESOLVE(valloc, own_valloc);
	RESOLVE(pvalloc, own_pvalloc);
	RESOLVE(dlclose, NULL);
	RESOLVE(dlopen, NULL);
	RESOLVE(dlmopen, NULL);
	next.complete = true;
}

SEEP_COLD void next_ready(void)
{
	if (next.complete)
		return;
	/* bootstrap.c serves until we are relocated, then libc's private names */
	if (!next.malloc || next.malloc == bootstrap_malloc)
		use_first();
	/*
	 * dlsym may allocate. Then it comes back here and is served by what
	 * use_first() has chosen. Before our relocation it cannot be called at
	 * all, so the next request tries again.
	 */
	if (__atomic_exchange_n(&resolving, 1, __ATOMIC_ACQUIRE))
		return;
	if (loader_is_relocated() || __libc_malloc)
		resolve();
	__atomic_store_n(&resolving, 0, __ATOMIC_RELEASE);
}

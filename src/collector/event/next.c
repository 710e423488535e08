/* next.c - the allocator that our hooks forward to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/next.h"

#include <errno.h>
#include <string.h>

#include "base/attr.h"
#include "collector/event/bootstrap.h"
#include "collector/segment/libc.h"
#include "base/cpu/cpu.h"

/*
 * All are weak, because a preloaded library with a strong symbol that the
 * host's libc lacks would stop the host from starting (I16). dlsym moved into
 * libc with glibc 2.34, which has its old version too.
 */
extern void *next_dlsym(void *handle, const char *name) SEEP_WEAK;
extern char *next_dlerror(void) SEEP_WEAK;
__asm__(".symver next_dlsym, dlsym@" CPU_GLIBC_FIRST);
__asm__(".symver next_dlerror, dlerror@" CPU_GLIBC_FIRST);

extern void *__libc_malloc(size_t) SEEP_WEAK;
extern void __libc_free(void *) SEEP_WEAK;
extern void *__libc_calloc(size_t, size_t) SEEP_WEAK;
extern void *__libc_realloc(void *, size_t) SEEP_WEAK;
extern void *__libc_memalign(size_t, size_t) SEEP_WEAK;

#define HANDLE_NEXT    ((void *)-1L) /* RTLD_NEXT */
#define HANDLE_DEFAULT NULL          /* RTLD_DEFAULT */

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
	return next.memalign(CPU_PAGE, (size + CPU_PAGE - 1) & ~(size_t)(CPU_PAGE - 1));
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

static libc_dlsym *real_dlsym;
static char *(*real_dlerror)(void);

/* Those of libc, or what bears their names in another libc. */
static void find_dlsym(void)
{
	real_dlsym = (libc_dlsym *)libc_function("dlsym");
	real_dlerror = (char *(*)(void))libc_function("dlerror");
	if (real_dlsym && real_dlerror)
		return;
	real_dlsym = next_dlsym;
	real_dlerror = next_dlerror;
}

static void *find(void *handle, const char *name)
{
	void *p;

	if (!real_dlsym)
		return NULL;
	p = real_dlsym(handle, name);
	if (!p && real_dlerror) {
		real_dlerror(); /* the host must not find our error */
		real_dlerror();
	}
	return p;
}

void *next_symbol(const char *name)
{
	return find(HANDLE_DEFAULT, name);
}

void *next_after_us(const char *name)
{
	return find(HANDLE_NEXT, name);
}

/* A function that dlsym finds, or the fallback. */
#define RESOLVE(name, fallback) \
	do { \
		void *sym_ = find(HANDLE_NEXT, #name); \
		__typeof__(next.name) fn_ = fallback; \
		if (sym_) \
			memcpy(&fn_, &sym_, sizeof(fn_)); \
		next.name = fn_; \
	} while (0)

static void resolve(void)
{
	struct next boot = next;

	find_dlsym();
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
	if (next_dlsym || __libc_malloc)
		resolve();
	__atomic_store_n(&resolving, 0, __ATOMIC_RELEASE);
}

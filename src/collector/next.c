/* next.c - the real allocator, and what serves before it is known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/next.h"

#include <errno.h>
#include <string.h>

#include "base/attr.h"
#include "cpu/cpu.h"
#include "base/sys.h"

/*
 * All weak: a preloaded library with an undefined strong symbol that the
 * host's libc lacks would stop the host from starting (I16). dlsym moved into
 * libc with glibc 2.34; its old version is there too.
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

enum {
	POOL_BYTES = 16 << 20, /* mapped only where it is needed */
	POOL_BYTES_LEAST = 64 << 10,
	POOL_HEADER = 16,
	GLIBC_IS_MAPPED = 2, /* bit of a chunk's size: mmap has made it */
};

struct next next SEEP_HOT;
static int resolving;
static char *pool;
static size_t pool_bytes;
static size_t pool_used;

/*
 * The pool serves calls that come before our own relocation: from an IFUNC
 * resolver, while the loader relocates another library. Such code must not
 * touch a pointer that is initialised statically, nor call through the PLT.
 */
static bool
open_pool(void)
{
	size_t bytes = POOL_BYTES;
	void *p;

	do {
		p = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (!sys_failed(p))
			break;
		bytes /= 4;
	} while (bytes >= POOL_BYTES_LEAST);
	if (sys_failed(p))
		return false;
	pool = p;
	pool_bytes = bytes;
	next.pooled = true;
	return true;
}

static void *
pool_alloc(size_t align, size_t size)
{
	uint64_t chunk;
	size_t at;

	if ((!pool && !open_pool()) || size > pool_bytes || align > pool_bytes)
		return NULL;
	if (align < 16)
		align = 16;
	at = (pool_used + POOL_HEADER + align - 1) & ~(align - 1);
	size = (size + 15) & ~(size_t)15;
	if (size > pool_bytes || at > pool_bytes - size)
		return NULL;
	pool_used = at + size;
	/* so that malloc_usable_size() of glibc gives the right answer */
	chunk = (size + POOL_HEADER) | GLIBC_IS_MAPPED;
	*(uint64_t *)(void *)(pool + at - sizeof(chunk)) = chunk;
	return pool + at;
}

bool
next_is_pool(const void *p)
{
	return pool && (const char *)p >= pool &&
	    (const char *)p < pool + pool_bytes;
}

static size_t
pool_size(const void *p)
{
	const uint64_t *chunk = (const uint64_t *)p - 1;

	return (size_t)(*chunk & ~(uint64_t)7) - POOL_HEADER;
}

static void *
pool_malloc(size_t size)
{
	return pool_alloc(16, size);
}

static void
pool_free(void *p)
{
	(void)p;
}

static void *
pool_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return pool_alloc(16, bytes); /* fresh pages are zero */
}

/* Not memcpy(), which is a call through the PLT. */
static void
copy(char *to, const char *from, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		to[i] = from[i];
		__asm__ volatile("" ::: "memory");
	}
}

static void *
pool_realloc(void *old, size_t size)
{
	size_t had = old ? pool_size(old) : 0;
	char *p = pool_alloc(16, size);

	if (p && old)
		copy(p, old, size < had ? size : had);
	return p;
}

static void *
pool_reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return pool_realloc(old, bytes);
}

static int
pool_posix_memalign(void **ret, size_t align, size_t size)
{
	void *p;

	if (align % sizeof(void *) || !align || (align & (align - 1)))
		return EINVAL;
	p = pool_alloc(align, size);
	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

static void *
pool_valloc(size_t size)
{
	return pool_alloc(CPU_PAGE, size);
}

static void *
pool_pvalloc(size_t size)
{
	return pool_alloc(
	    CPU_PAGE, (size + CPU_PAGE - 1) & ~(size_t)(CPU_PAGE - 1));
}

void *
next_leave_pool(const void *old, size_t size)
{
	size_t had = pool_size(old);
	void *p = next.malloc(size);

	if (p)
		copy(p, old, size < had ? size : had);
	return p;
}

/*
 * What the allocator in charge lacks is made of what every allocator has, in
 * the same way as libc would.
 */
static void *
own_reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return next.realloc(p, bytes);
}

static int
own_posix_memalign(void **ret, size_t align, size_t size)
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

static void *
own_valloc(size_t size)
{
	return next.memalign(CPU_PAGE, size);
}

static void *
own_pvalloc(size_t size)
{
	return next.memalign(
	    CPU_PAGE, (size + CPU_PAGE - 1) & ~(size_t)(CPU_PAGE - 1));
}

/* Only until RTLD_NEXT is known: glibc by its private names, or the pool. */
static void
use_bootstrap(void)
{
	if (__libc_malloc && __libc_free && __libc_calloc && __libc_realloc &&
	    __libc_memalign) {
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
		next.malloc = pool_malloc;
		next.free = pool_free;
		next.calloc = pool_calloc;
		next.realloc = pool_realloc;
		next.memalign = pool_alloc;
		next.aligned_alloc = pool_alloc;
		next.reallocarray = pool_reallocarray;
		next.posix_memalign = pool_posix_memalign;
		next.valloc = pool_valloc;
		next.pvalloc = pool_pvalloc;
	}
}

static void *
find(void *handle, const char *name)
{
	void *p;

	if (!next_dlsym)
		return NULL;
	p = next_dlsym(handle, name);
	if (!p && next_dlerror) {
		next_dlerror(); /* the host shall not find our error */
		next_dlerror();
	}
	return p;
}

void *
next_symbol(const char *name)
{
	return find(HANDLE_DEFAULT, name);
}

void *
next_after_us(const char *name)
{
	return find(HANDLE_NEXT, name);
}

/* A function pointer out of dlsym, or what stands in for it. */
#define RESOLVE(name, fallback) \
	do { \
		void *sym_ = find(HANDLE_NEXT, #name); \
		__typeof__(next.name) fn_ = fallback; \
		if (sym_) \
			memcpy(&fn_, &sym_, sizeof(fn_)); \
		next.name = fn_; \
	} while (0)

static void
resolve(void)
{
	struct next boot = next;

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

SEEP_COLD void
next_ready(void)
{
	if (next.complete)
		return;
	/* the pool serves until we are relocated, then libc's private names */
	if (!next.malloc || next.malloc == pool_malloc)
		use_bootstrap();
	/*
	 * dlsym may allocate: it comes back here and is served by bootstrap.
	 * Unrelocated we cannot call it at all; the next request tries again.
	 */
	if (__atomic_exchange_n(&resolving, 1, __ATOMIC_ACQUIRE))
		return;
	if (next_dlsym || __libc_malloc)
		resolve();
	__atomic_store_n(&resolving, 0, __ATOMIC_RELEASE);
}

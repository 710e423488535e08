/* bootstrap.c - memory for calls that come before our own relocation. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/event/next.h"

#include <errno.h>
#include <stdint.h>

#include "base/sys.h"

enum {
	BYTES = 16 << 20, /* mapped by the first call */
	BYTES_LEAST = 64 << 10,
	HEADER = 16,
	GLIBC_IS_MAPPED = 2, /* a bit of a chunk's size: mmap made it */
};

static char *memory;
static size_t memory_bytes;
static size_t memory_used;

static bool map_memory(void)
{
	size_t bytes = BYTES;
	void *p;

	do {
		p = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (!sys_failed(p))
			break;
		bytes /= 4;
	} while (bytes >= BYTES_LEAST);
	if (sys_failed(p))
		return false;
	memory = p;
	memory_bytes = bytes;
	next.has_bootstrap = true;
	return true;
}

void *bootstrap_alloc(size_t align, size_t size)
{
	uint64_t chunk;
	size_t at;

	if ((!memory && !map_memory()) || size > memory_bytes || align > memory_bytes)
		return NULL;
	if (align < 16)
		align = 16;
	at = (memory_used + HEADER + align - 1) & ~(align - 1);
	size = (size + 15) & ~(size_t)15;
	if (size > memory_bytes || at > memory_bytes - size)
		return NULL;
	memory_used = at + size;
	/* glibc's malloc_usable_size() reads this */
	chunk = (size + HEADER) | GLIBC_IS_MAPPED;
	*(uint64_t *)(void *)(memory + at - sizeof(chunk)) = chunk;
	return memory + at;
}

bool bootstrap_owns(const void *p)
{
	return memory && (const char *)p >= memory && (const char *)p < memory + memory_bytes;
}

static size_t size_of(const void *p)
{
	const uint64_t *chunk = (const uint64_t *)p - 1;

	return (size_t)(*chunk & ~(uint64_t)7) - HEADER;
}

void *bootstrap_malloc(size_t size)
{
	return bootstrap_alloc(16, size);
}

void bootstrap_free(void *p)
{
	(void)p;
}

void *bootstrap_calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return bootstrap_alloc(16, bytes); /* fresh pages are zero */
}

/* memcpy() would be a call through the PLT. */
static void copy(char *to, const char *from, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++) {
		to[i] = from[i];
		__asm__ volatile("" ::: "memory");
	}
}

void *bootstrap_realloc(void *old, size_t size)
{
	size_t had = old ? size_of(old) : 0;
	char *p = bootstrap_alloc(16, size);

	if (p && old)
		copy(p, old, size < had ? size : had);
	return p;
}

void *bootstrap_reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return bootstrap_realloc(old, bytes);
}

int bootstrap_posix_memalign(void **ret, size_t align, size_t size)
{
	void *p;

	if (align % sizeof(void *) || !align || (align & (align - 1)))
		return EINVAL;
	p = bootstrap_alloc(align, size);
	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

void *bootstrap_valloc(size_t size)
{
	return bootstrap_alloc(CPU_PAGE, size);
}

void *bootstrap_pvalloc(size_t size)
{
	return bootstrap_alloc(CPU_PAGE, cpu_page_up(size));
}

void *bootstrap_move(const void *old, size_t size)
{
	size_t had = size_of(old);
	void *p = next.malloc(size);

	if (p)
		copy(p, old, size < had ? size : had);
	return p;
}

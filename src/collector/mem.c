/* mem.c - private memory of the collector: pages of our own, never freed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/mem.h"

#include <string.h>

#include "base/attr.h"
#include "base/cpu.h"
#include "base/sys.h"

/* Lives in the first page of the reserve it describes. */
struct reserve {
	uint64_t bytes;
	uint64_t used; /* may run past bytes: then the reserve is spent */
};

enum { RESERVE_TRIES = 64 };

static size_t reserve_bytes = 4 << 20;
static struct reserve *current;
static uint64_t total;
static uint64_t total_max = UINT64_MAX;

void
mem_init(size_t bytes, uint64_t total_bytes)
{
	reserve_bytes = bytes;
	total_max = total_bytes;
}

static size_t
whole_pages(size_t bytes)
{
	return (bytes + CPU_PAGE - 1) & ~(size_t)(CPU_PAGE - 1);
}

static void *
map_reserve(size_t bytes)
{
	void *p = sys_mmap(NULL, bytes, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_failed(p))
		return NULL;
	sys_madvise(p, bytes, MADV_DONTDUMP);
	return p;
}

/* NULL: the reserve is spent, or the kernel refuses. */
static void *
take_from(struct reserve *r, size_t bytes)
{
	uint64_t at = ADD(&r->used, bytes);
	void *p = (char *)r + at;

	if (at + bytes > LOAD(&r->bytes) ||
	    sys_mprotect(p, bytes, PROT_READ | PROT_WRITE))
		return NULL;
	return p;
}

/* A new reserve, with `bytes` of it already taken for the caller. */
static SEEP_COLD void *
new_reserve(struct reserve *old, size_t bytes)
{
	size_t size = reserve_bytes;
	struct reserve *r;
	void *p;
	int i;

	if (size < bytes + CPU_PAGE)
		size = bytes + CPU_PAGE;
	r = map_reserve(size);
	if (!r)
		return NULL;
	if (sys_mprotect(r, CPU_PAGE + bytes, PROT_READ | PROT_WRITE)) {
		sys_munmap(r, size);
		return NULL;
	}
	STORE(&r->bytes, size);
	STORE(&r->used, CPU_PAGE + bytes);
	/*
	 * Where another thread was faster, its reserve has room, or is spent
	 * already, and ours comes next. If each kept its own, thousands that
	 * come at once would have a mapping each.
	 */
	for (i = 0; i < RESERVE_TRIES; i++) {
		if (CAS(&current, &old, r))
			return (char *)r + CPU_PAGE;
		p = take_from(old, bytes);
		if (p) {
			sys_munmap(r, size);
			return p;
		}
	}
	/* it keeps what it needs and gives the rest back */
	sys_munmap((char *)r + CPU_PAGE + bytes, size - CPU_PAGE - bytes);
	return (char *)r + CPU_PAGE;
}

void *
mem_alloc(size_t bytes)
{
	struct reserve *r = LOAD_ACQUIRE(&current);
	uint64_t at;
	void *p;

	bytes = whole_pages(bytes);
	if (ADD(&total, bytes) + bytes > total_max) {
		ADD(&total, (uint64_t)-bytes);
		return NULL;
	}
	if (!r)
		return new_reserve(NULL, bytes);
	at = ADD(&r->used, bytes);
	if (at + bytes > LOAD(&r->bytes))
		return new_reserve(r, bytes);
	p = (char *)r + at;
	if (sys_mprotect(p, bytes, PROT_READ | PROT_WRITE))
		return NULL;
	return p;
}

void *
mem_alloc_dense(size_t bytes)
{
	void *p = mem_alloc(bytes);

	/* where the kernel cannot, the faults do it one by one */
	if (p)
		sys_madvise(p, whole_pages(bytes), MADV_POPULATE_WRITE);
	return p;
}

void
mem_zero(void *p, size_t bytes)
{
	/* a filter may forbid it, locked pages refuse it: then by hand */
	if (sys_madvise(p, whole_pages(bytes), MADV_DONTNEED) != 0)
		memset(p, 0, whole_pages(bytes));
}

uint64_t
mem_total(void)
{
	return LOAD(&total);
}

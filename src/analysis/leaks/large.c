/* large.c - arrays that are read here and there: in large pages. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	HUGE = 2 << 20,
	LEAST = 2 * HUGE, /* below that it is not worth it */
};

/* Only helps for pages that nobody has touched. */
static void ask_for_huge_pages(void *at, size_t bytes)
{
	uintptr_t skip = -(uintptr_t)at % HUGE;

	if (bytes >= LEAST)
		(void)madvise((char *)at + skip, (bytes - skip) / HUGE * HUGE, MADV_HUGEPAGE);
}

void *large_zeroed(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (p)
		ask_for_huge_pages(p, bytes);
	return p;
}

void *large_grow(void *old, size_t keep, size_t bytes)
{
	void *p;

	if (bytes < LEAST)
		return realloc(old, bytes);
	/* the kernel would move it, and its large pages would be none then */
	if (posix_memalign(&p, HUGE, bytes) != 0)
		return NULL;
	ask_for_huge_pages(p, bytes);
	if (keep)
		memcpy(p, old, keep);
	free(old);
	return p;
}

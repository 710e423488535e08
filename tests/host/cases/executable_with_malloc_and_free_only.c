/* executable_with_malloc_and_free_only.c - the program defines malloc and free, and calloc stays libc's: it runs as bare, and the collector mixes no blocks of the two. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T28 T27 */
/* modes: exact sampled dormant */
/* trace: no */
/* flags: -fno-builtin -w */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern void *calloc(size_t, size_t);
extern void *realloc(void *, size_t);

static char pool[8 << 20] __attribute__((aligned(16)));
static size_t used, mallocs, frees, foreign;

void *malloc(size_t n)
{
	size_t at = __atomic_fetch_add(&used, (n + 31) & ~(size_t)15, 5);

	mallocs++;
	return at + n < sizeof(pool) ? pool + at : NULL;
}

void free(void *p)
{
	frees += p != NULL;
	foreign += p && ((char *)p < pool || (char *)p >= pool + sizeof(pool));
}

int main(void)
{
	size_t before = mallocs, freed = frees;
	int zero = 1;

	for (int i = 1; i < 500; i++) {
		char *p = malloc((size_t)i), *q = calloc(3, (size_t)i);

		memset(p, 1, (size_t)i);
		for (int k = 0; k < 3 * i; k++)
			zero &= q[k] == 0;
		free(p);
	}
	char *r = NULL;

	for (size_t n = 1; n < 5000; n *= 2)
		r = realloc(r, n);
	memset(r, 2, 4096);
	printf("own mallocs %zu frees %zu foreign %zu zero %d\n", mallocs - before, frees - freed,
	    foreign, zero);
	return 0;
}

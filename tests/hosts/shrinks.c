/* shrinks.c - a large block that is resized to a small one, and freed: no block lives, whatever a filter leaves out. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

enum { LARGE = 100000, SMALL = 10 };

__attribute__((noinline)) static void *alloc_large(void)
{
	void *volatile p = malloc(LARGE);

	return p;
}

__attribute__((noinline)) static void *shrink(void *large)
{
	void *volatile p = realloc(large, SMALL);

	return p;
}

int main(void)
{
	free(shrink(alloc_large()));
	return 0;
}

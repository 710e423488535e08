/* early_plugin_first.c - allocates 200 blocks in its constructor and frees 50 of them. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Wl,-z,initfirst */
#include <stdlib.h>

static void *kept[200];

__attribute__((noinline)) static void *first_alloc(size_t n)
{
	void *volatile p = malloc(n);

	return p;
}

__attribute__((constructor)) static void start_first(void)
{
	for (int i = 0; i < 200; i++)
		kept[i] = first_alloc(64);
	for (int i = 0; i < 50; i++)
		free(kept[i]);
}

int early_first(void)
{
	return kept[0] ? 50 : 0;
}

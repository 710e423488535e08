/* early_plugin.c - allocates 300 blocks in its constructor and frees 100 of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

static void *kept[300];

__attribute__((noinline)) static void *plain_alloc(size_t n)
{
	void *volatile p = malloc(n);

	return p;
}

__attribute__((constructor)) static void start_plain(void)
{
	for (int i = 0; i < 300; i++)
		kept[i] = plain_alloc(64);
	for (int i = 0; i < 100; i++)
		free(kept[i]);
}

int early_plain(void)
{
	return kept[0] ? 100 : 0;
}

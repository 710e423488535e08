/* known_answer_plugin_gone.c - holds blocks in its data, until it is unloaded. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

void *gone_held[100];

__attribute__((noinline)) static void k_dlclosed(int i)
{
	gone_held[i] = calloc(1, 72);
}

void fill(void)
{
	for (int i = 0; i < 100; i++)
		k_dlclosed(i);
}

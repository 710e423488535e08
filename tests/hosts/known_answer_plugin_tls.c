/* known_answer_plugin_tls.c - holds blocks in thread-local memory of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

_Thread_local void *tls_held[100];

__attribute__((noinline)) static void k_plugin_tls(int i)
{
	tls_held[i] = calloc(1, 72);
}

void fill(void)
{
	for (int i = 0; i < 100; i++)
		k_plugin_tls(i);
}

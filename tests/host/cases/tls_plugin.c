/* tls_plugin.c - a library with thread-local storage of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -ftls-model=global-dynamic -w */
#include <stdlib.h>

static __thread char room[600];
static __thread int count;

int touch_tls(int n)
{
	room[n % 600]++;
	free(malloc((unsigned long)n + 1));
	return ++count;
}

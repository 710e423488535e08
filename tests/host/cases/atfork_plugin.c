/* atfork_plugin.c - registers atfork handlers that allocate before main does. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -w */
#include <pthread.h>
#include <stdlib.h>

static void *held;

static void before(void)
{
	held = realloc(held, 300);
}

static void after(void)
{
	free(held);
	held = NULL;
	free(malloc(40));
}

__attribute__((constructor)) static void register_early(void)
{
	pthread_atfork(before, after, after);
}

/* known_answer_realloc_plugin.c - a realloc that copies, and stops on the way where its host says. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc's locks are free wherever it stops, so the host can fork meanwhile.
 * __libc_malloc() and __libc_free() are not seen by the collector.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void __libc_free(void *p);

/* 1: before the copy, 2: between copy and free, 3: after the free; 0: nowhere */
atomic_int realloc_stop_at;
atomic_int realloc_stopped;

static void pass(int point)
{
	if (realloc_stop_at != point)
		return;
	realloc_stopped++;
	while (realloc_stop_at == point)
		(void)usleep(1000);
	realloc_stopped--;
}

void *realloc(void *old, size_t bytes)
{
	size_t room = old ? malloc_usable_size(old) : 0;
	void *p;

	pass(1);
	p = __libc_malloc(bytes);
	if (!p || !old)
		return p;
	memcpy(p, old, room < bytes ? room : bytes);
	pass(2);
	__libc_free(old);
	pass(3);
	return p;
}

/* threads_at_new_addresses_need_no_memory.c - threads whose stacks are at new addresses reuse the memory of threads that have ended. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T97 */
/* modes: exact sampled dormant */
/* without: mappings: the table of mappings keeps its nodes, one for each 64 pages here */
/* env: SEEP_LOG_POOL=1MiB */
/* witness: no, it would stop twice for each thread */
/* ledger: --no-total */
/* a small pool, because nobody reads it, so it fills up to its size */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SITES(X) X(alloc_in_thread)
#include "../../lib/ledger.h"
#include "../../lib/resident.h"

enum { STACK = 64 << 10 };

SITE_FN static void *alloc_in_thread(size_t n)
{
	return led_keep(malloc(n));
}

/* not inlined: a stack of more than six frames shows whether one is whole */
__attribute__((noipa)) static void deeper(int depth)
{
	if (depth > 0) {
		deeper(depth - 1);
		__asm__ volatile("" ::: "memory");
		return;
	}
	free(alloc_in_thread(100));
	led_alloc(L_alloc_in_thread, 100);
	led_free(L_alloc_in_thread, 100);
}

static void *work(void *arg)
{
	deeper(10);
	return arg;
}

/* `kept` stacks stay mapped, as memory that somebody else might use */
static void run(char *at, int count, int kept)
{
	for (int i = 0; i < count; i++, at += STACK) {
		pthread_attr_t attr;
		pthread_t t;

		if (mprotect(at, STACK, PROT_READ | PROT_WRITE) != 0)
			puts("no stack");
		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, at, STACK);
		if (pthread_create(&t, &attr, work, NULL) != 0)
			puts("no thread");
		else
			pthread_join(t, NULL);
		pthread_attr_destroy(&attr);
		if (kept)
			madvise(at, STACK, MADV_DONTNEED);
		else
			munmap(at, STACK);
	}
}

static void steady(const char *what, int count, int kept)
{
	size_t bytes = (size_t)STACK * (size_t)(count + 500);
	char *room =
	    mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (room == MAP_FAILED)
		return;
	run(room, 500, kept);
	long before = resident_kib();

	run(room + (size_t)STACK * 500, count, kept);
	long grown = resident_kib() - before;

	/* a place whose address is in use costs less than 256 bytes */
	long allowed = 2048 + (kept ? count / 4 : 0);

	printf("%s: %s\n", what, grown < allowed ? "steady" : "growing");
	if (grown >= allowed)
		printf("%ld KiB\n", grown);
	/* what was unmapped already may be somebody else's by now */
	if (kept)
		munmap(room, bytes);
}

int main(void)
{
	int count = getenv("SEEP_FULL") ? 100000 : 4500;

	steady("unmapped", count, 0);
	steady("mapped", count, 1);
	led_print(1);
	return 0;
}

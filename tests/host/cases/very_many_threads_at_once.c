/* very_many_threads_at_once.c - 5,000 threads at the same time are all recorded with complete stacks, and need no mapping each. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T97 */
/* modes: exact sampled dormant */
/* witness: no, it would stop twice for each thread */
/* ledger: --no-total */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SITES(X) X(alloc_in_thread)
#include "../../lib/ledger.h"

enum { STACK = 64 << 10 };

static pthread_barrier_t all_there, all_done;

SITE_FN static void *alloc_in_thread(size_t n)
{
	return led_keep(malloc(n));
}

/* more frames than a thread without a block of its own would keep */
__attribute__((noipa)) static void *deeper(int depth, size_t n)
{
	void *p = depth > 0 ? deeper(depth - 1, n) : alloc_in_thread(n);

	__asm__ volatile("" ::: "memory");
	return p;
}

static void *work(void *arg)
{
	void *p = deeper(10, 100);

	led_alloc(L_alloc_in_thread, 100);
	pthread_barrier_wait(&all_there);
	free(p);
	led_free(L_alloc_in_thread, 100);
	free(deeper(20, 200));
	led_alloc(L_alloc_in_thread, 200);
	led_free(L_alloc_in_thread, 200);
	pthread_barrier_wait(&all_done);
	return arg;
}

static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	int n = 0, c;

	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}

int main(void)
{
	int count = getenv("SEEP_FULL") ? 20000 : 5000;
	pthread_t *t = malloc(sizeof(*t) * (size_t)count);
	/* one mapping for all stacks, without guards */
	char *room = mmap(NULL, (size_t)STACK * (size_t)count, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int made = 0, before = mappings();
	pthread_attr_t attr;

	if (!t || room == MAP_FAILED)
		return 1;
	pthread_barrier_init(&all_there, NULL, (unsigned)count + 1);
	pthread_barrier_init(&all_done, NULL, (unsigned)count + 1);
	pthread_attr_init(&attr);
	for (int i = 0; i < count; i++) {
		pthread_attr_setstack(&attr, room + (size_t)STACK * (size_t)i, STACK);
		made += pthread_create(&t[i], &attr, work, NULL) == 0;
	}
	if (made < count) { /* they would wait for ever */
		printf("%d of %d threads\n", made, count);
		return 0;
	}
	pthread_barrier_wait(&all_there);
	printf("few mappings: %s\n", mappings() - before < count / 4 ? "yes" : "no");
	pthread_barrier_wait(&all_done);
	for (int i = 0; i < made; i++)
		pthread_join(t[i], NULL);
	free(t);
	led_print(1);
	return 0;
}

/* handoff.c - one thread allocates, another frees. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: handoff BLOCKS
 *
 * A ring of 1,024 pointers between a producer and a consumer: every free is
 * of another thread's block. Prints ns per block, wall time of the whole.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RING = 1024 };

static void *ring[RING];
static _Alignas(64) atomic_long head;
static _Alignas(64) atomic_long tail;
static long blocks;

static double
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *
consume(void *arg)
{
	long seen = 0;

	(void)arg;
	for (long i = 0; i < blocks; i++) {
		while (seen <= i) {
			seen =
			    atomic_load_explicit(&head, memory_order_acquire);
			if (seen <= i)
				sched_yield();
		}
		free(ring[i % RING]);
		atomic_store_explicit(&tail, i + 1, memory_order_release);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t consumer;
	long room = RING;
	double begin_ns;
	unsigned x = 1;

	if (argc < 2) {
		fputs("usage: handoff BLOCKS\n", stderr);
		return 2;
	}
	blocks = atol(argv[1]);
	if (blocks < 1 || pthread_create(&consumer, NULL, consume, NULL))
		return 2;
	begin_ns = now_ns();
	for (long i = 0; i < blocks; i++) {
		char *p;

		x = x * 1664525u + 1013904223u;
		p = malloc(16 + (x >> 16) % 497);
		*p = 1;
		while (i >= room) {
			room = RING +
			    atomic_load_explicit(&tail, memory_order_acquire);
			if (i >= room)
				sched_yield();
		}
		ring[i % RING] = p;
		atomic_store_explicit(&head, i + 1, memory_order_release);
	}
	pthread_join(consumer, NULL);
	printf("%.3f\n", (now_ns() - begin_ns) / (double)blocks);
	return 0;
}

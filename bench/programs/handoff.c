/* handoff.c - one thread allocates, another frees. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: handoff BLOCKS
 *
 * Two threads, each on a CPU of its own if there are two, take turns: one
 * allocates a batch of 1,024 blocks, the other frees it. So every free is of
 * another thread's block, and its cache lines come from another CPU. Prints the
 * CPU time in ns per block, allocating and freeing together. It is that of the
 * fastest tenth of the batches, because after other programs have used the CPU
 * and its caches, a batch takes up to four times as long.
 *
 * Waiting is not included. An earlier form used a ring and called sched_yield()
 * while it was full or empty. On a busy machine that gave the CPU to others, and
 * the same build took 60 ns per block in one run and 3,000 in the next.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 1024 };

static void *ring[BATCH];
static sem_t filled, emptied;
static long batches;
static double *allocating_ns, *freeing_ns;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s))
		; /* a signal came */
}

/* The n-th CPU that this process may use, or any if there is none. */
static void use_cpu(int n)
{
	cpu_set_t may, one;
	int cpu;

	if (sched_getaffinity(0, sizeof(may), &may))
		return;
	CPU_ZERO(&one);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &may) || n--)
			continue;
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

static void *consume(void *arg)
{
	(void)arg;
	use_cpu(1);
	for (long b = 0; b < batches; b++) {
		double begin;

		wait_for(&filled);
		begin = cpu_ns();
		for (int i = 0; i < BATCH; i++)
			free(ring[i]);
		freeing_ns[b] = cpu_ns() - begin;
		sem_post(&emptied);
	}
	return NULL;
}

static void produce(void)
{
	unsigned x = 1;

	use_cpu(0);
	for (long b = 0; b < batches; b++) {
		double begin;

		wait_for(&emptied);
		begin = cpu_ns();
		for (int i = 0; i < BATCH; i++) {
			char *p;

			x = x * 1664525u + 1013904223u;
			p = malloc(16 + (x >> 16) % 497);
			*p = 1;
			ring[i] = p;
		}
		allocating_ns[b] = cpu_ns() - begin;
		sem_post(&filled);
	}
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A tenth of the batches took less time than this. */
static double undisturbed(double *values)
{
	qsort(values, (size_t)batches, sizeof(*values), compare);
	return values[batches / 10];
}

int main(int argc, char **argv)
{
	pthread_t consumer;

	if (argc < 2) {
		fputs("usage: handoff BLOCKS\n", stderr);
		return 2;
	}
	batches = (atol(argv[1]) + BATCH - 1) / BATCH;
	if (batches < 1)
		return 2;
	allocating_ns = calloc((size_t)batches, sizeof(double));
	freeing_ns = calloc((size_t)batches, sizeof(double));
	if (!allocating_ns || !freeing_ns || sem_init(&filled, 0, 0) || sem_init(&emptied, 0, 1) ||
	    pthread_create(&consumer, NULL, consume, NULL))
		return 2;
	produce();
	pthread_join(consumer, NULL);
	printf("%.3f\n", (undisturbed(allocating_ns) + undisturbed(freeing_ns)) / BATCH);
	free(allocating_ns);
	free(freeing_ns);
	return 0;
}

/* moving_pointers.c - two threads move the only pointers to blocks without pause: none of these is a LEAK, 1,000 others are. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moving_pointers MEGABYTES: that much lies between a table in the heap and one
 * in the program's data. Says "ready PID MOVES" and waits for the end of its
 * input; then "moved N".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/scrub.h"

enum { BLOCKS = 20000, LOST = 1000, THREADS = 2, SIZE = 72 };

#define OWN __attribute__((noinline, noclone, no_icf))

static OWN void *k_moving(void)
{
	char *volatile p = malloc(SIZE); /* volatile: else this is a jump */

	p[0] = 1;
	return p;
}

static OWN void *k_lost(void)
{
	char *volatile p = malloc(SIZE); /* volatile: else this is a jump */

	p[0] = 1;
	return p;
}

static OWN void *k_around(size_t size)
{
	char *volatile p = malloc(size);

	return memset(p, 1, size);
}

void *volatile in_data[BLOCKS];
void *volatile *in_heap;
void **around;
static atomic_ulong moves;

/* Each thread has blocks of its own, so that a pointer is in one table only. */
static void *move(void *arg)
{
	unsigned first = (unsigned)(uintptr_t)arg * (BLOCKS / THREADS);
	unsigned seed = first + 1;

	for (unsigned long n = 0;; n++) {
		unsigned i;

		seed = seed * 1103515245 + 12345;
		i = first + (seed >> 8) % (BLOCKS / THREADS);
		if (in_heap[i]) {
			void *p = in_heap[i];

			in_heap[i] = NULL;
			in_data[i] = p;
		} else {
			void *p = in_data[i];

			in_data[i] = NULL;
			in_heap[i] = p;
		}
		if (n % 4096 == 0)
			atomic_fetch_add_explicit(&moves, 4096, memory_order_relaxed);
	}
	return NULL;
}

static OWN void make_all(size_t megabytes)
{
	size_t pieces = megabytes * 4;

	around = calloc(pieces + 1, sizeof(*around));
	for (size_t i = 0; i < pieces / 2; i++)
		around[i] = k_around(256000);
	in_heap = calloc(BLOCKS, sizeof(*in_heap));
	for (int i = 0; i < BLOCKS; i++)
		in_heap[i] = k_moving();
	for (int i = 0; i < LOST; i++)
		(void)k_lost();
	for (size_t i = pieces / 2; i < pieces; i++)
		around[i] = k_around(256000);
}

int main(int argc, char **argv)
{
	pthread_t t;
	char byte;

	make_all(argc > 1 ? strtoul(argv[1], NULL, 10) : 16);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t, NULL, move, (void *)i) != 0)
			abort();
	scrub();
	printf("CASE k_moving held %d\nCASE k_lost lost %d\n", BLOCKS, LOST);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	printf("moved %lu\n", atomic_load(&moves));
	return 0;
}

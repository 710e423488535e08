/* look_cost.c - a heap of a known size, and a thread that counts what it gets done: what a look costs its reader, and this host. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_cost BLOCKS [write|map]: so many blocks of 496 bytes with three pointers
 * each to others, all of them held. Says "ready PID TID", answers each byte of
 * its input with "done N", and ends with its input. The thread TID
 *	write	writes words of blocks at random
 *	map	maps, touches and unmaps 64 KiB
 * without end, or waits.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 496, POINTERS = 3, MAPPED = 64 << 10, PAGE = 4096 };

/* No pointer is at the beginning, where freed chunks have their links. */
struct block {
	uint64_t data[50];
	struct block *to[POINTERS];
};

static struct block **all;
static size_t count;
static atomic_ulong done;
static atomic_int tid;
static sem_t begun;

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

static void *write_without_end(void *arg)
{
	uint64_t seed = 1;

	(void)arg;
	tid = (int)syscall(SYS_gettid);
	sem_post(&begun);
	for (;;) {
		for (int i = 0; i < 1024; i++)
			all[next_random(&seed) % count]->data[i % 50] = (uint64_t)i;
		atomic_fetch_add_explicit(&done, 1024, memory_order_relaxed);
	}
	return NULL;
}

static void *map_without_end(void *arg)
{
	(void)arg;
	tid = (int)syscall(SYS_gettid);
	sem_post(&begun);
	for (;;) {
		char *p =
		    mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			abort();
		for (size_t i = 0; i < MAPPED; i += PAGE)
			p[i] = 1;
		if (munmap(p, MAPPED) != 0)
			abort();
		atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
	}
	return NULL;
}

static void make_heap(void)
{
	uint64_t seed = 7;

	all = calloc(count, sizeof(*all));
	for (size_t i = 0; all && i < count; i++) {
		all[i] = malloc(SIZE);
		if (!all[i])
			abort();
		memset(all[i], 1, SIZE);
	}
	for (size_t i = 0; all && i < count; i++)
		for (int k = 0; k < POINTERS; k++)
			all[i]->to[k] = all[next_random(&seed) % count];
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	pthread_t t;
	char byte;

	count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	if (count == 0 || sem_init(&begun, 0, 0) != 0)
		return 2;
	make_heap();
	if (*what &&
	    (pthread_create(&t, NULL,
	         strcmp(what, "map") == 0 ? map_without_end : write_without_end, NULL) != 0 ||
	        sem_wait(&begun) != 0))
		return 2;
	printf("ready %d %d\n", (int)getpid(), (int)tid);
	fflush(stdout);
	while (read(0, &byte, 1) > 0) {
		printf("done %lu\n", atomic_load(&done));
		fflush(stdout);
	}
	return 0;
}

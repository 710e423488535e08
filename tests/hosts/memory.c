/* memory.c - one pointer is nowhere in the memory of this host, but its block lives; for comparisons of its mappings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * usage: memory GENERATIONS
 * Forks so often, one below the other. The last one prints PID, HIDDEN and the
 * complement of an address, a line for each of its mappings, READY, and all
 * wait for the end of stdin.
 */
enum { DEPTH = 40, THREADS = 4 };

static void *kept[20000];
static uint64_t hidden;

__attribute__((noipa)) static void allocate(int depth, int from, int count)
{
	int i;

	if (depth > 0) {
		allocate(depth - 1, from, count);
		__asm__ volatile("" ::: "memory");
		return;
	}
	for (i = from; i < from + count; i++) {
		kept[i] = malloc((size_t)(i % 700));
		__asm__ volatile("" : "+m"(kept[i]));
	}
}

/* A block that stands alone: the collector has its address in a table. */
__attribute__((noipa)) static void hide(void)
{
	hidden = ~(uint64_t)(uintptr_t)malloc(1 << 20);
}

/* What the calls before have left on the stack. */
__attribute__((noipa)) static void wipe_stack(void)
{
	volatile char below[65536];

	memset((char *)below, 0, sizeof(below));
	__asm__ volatile("" : : "r"(below) : "memory");
}

static pthread_barrier_t all_are_there;

/* As many stacks and arenas in each run, whoever is how fast. */
static void *work(void *arg)
{
	pthread_barrier_wait(&all_are_there);
	allocate(DEPTH, 10000 + (int)(intptr_t)arg * 1000, 1000);
	return NULL;
}

static void work_in_threads(void)
{
	pthread_t threads[THREADS];
	int i;

	pthread_barrier_init(&all_are_there, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i))
			abort();
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void say_mappings(void)
{
	static char text[1 << 20];
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	char *line = text;

	if (f)
		fclose(f);
	text[n] = '\0';
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("MAP %s\n", line);
}

int main(int argc, char **argv)
{
	int generations = argc > 1 ? atoi(argv[1]) : 0, i;

	mallopt(M_ARENA_MAX, 1);
	setvbuf(stdout, malloc(1 << 16), _IOFBF, 1 << 16);
	allocate(DEPTH, 0, 5000);
	for (i = 0; i < generations; i++) {
		if (fork() > 0)
			goto wait;
		allocate(i, 5000 + i * 300, 300);
	}
	work_in_threads();
	hide();
	wipe_stack();
	printf("PID %d\nHIDDEN %lx\n", (int)getpid(), (unsigned long)hidden);
	say_mappings();
	printf("READY\n");
	fflush(stdout);
wait:
	while (getchar() != EOF)
		;
	return 0;
}

/* coroutines.c - coroutines that allocate at all depths and switch after each block; prints how many there were, and with "time" what one costs. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: coroutines COROUTINES ROUNDS DEPTH [thread] [guards] [time]
 *   thread  in a pthread, instead of the first thread
 *   guards  a page that cannot be read on both sides of each stack
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

enum { STACK = 65536, PAGE = 4096, COROUTINES_MAX = 1000 };

static ucontext_t scheduler, coroutine[COROUTINES_MAX];
static int coroutines, rounds, depth, over;
static int thread, guards, timed;
static unsigned long blocks;

__attribute__((noinline)) static void descend(int path, int at)
{
	char room[200];

	__asm__ volatile("" ::"r"(room) : "memory");
	if (at == 0) {
		void *p = malloc(32);

		__asm__ volatile("" ::"r"(p) : "memory");
		free(p);
		blocks++;
	} else if (path & 1) { /* remarks keep the two calls apart */
		descend(path >> 1, at - 1);
		__asm__ volatile("# one" ::: "memory");
	} else {
		descend(path >> 1, at - 1);
		__asm__ volatile("# none" ::: "memory");
	}
	__asm__ volatile("" ::"r"(room) : "memory");
}

static void body(int k)
{
	for (int i = 0; !over; i++) {
		/* timed: always the same; else by many paths */
		if (timed)
			descend(0, depth);
		else
			descend(k * 7 + i, (k + i) % (depth + 1));
		swapcontext(&coroutine[k], &scheduler);
	}
}

static void make(int k)
{
	size_t bytes = STACK + (guards ? 2 * PAGE : 0);
	char *base = mmap(NULL, bytes, guards ? PROT_NONE : PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		exit(1);
	if (guards) {
		base += PAGE;
		mprotect(base, STACK, PROT_READ | PROT_WRITE);
	}
	getcontext(&coroutine[k]);
	coroutine[k].uc_stack.ss_sp = base;
	coroutine[k].uc_stack.ss_size = STACK;
	coroutine[k].uc_link = &scheduler;
	makecontext(&coroutine[k], (void (*)(void))body, 1, k);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *schedule(void *arg)
{
	double best = 1e18;

	for (int k = 0; k < coroutines; k++)
		make(k);
	for (int part = 0; part < 10; part++) {
		double begin = now_ns(), each;

		for (int i = 0; i < rounds / 10; i++)
			for (int k = 0; k < coroutines; k++)
				swapcontext(&scheduler, &coroutine[k]);
		each = (now_ns() - begin) / (rounds / 10) / coroutines;
		if (each < best)
			best = each;
	}
	over = 1;
	if (timed)
		printf("%.0f ns\n", best);
	else
		printf("%lu blocks\n", blocks);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc < 4)
		return 2;
	coroutines = atoi(argv[1]);
	rounds = atoi(argv[2]);
	depth = atoi(argv[3]);
	if (coroutines < 1 || coroutines > COROUTINES_MAX || rounds < 10)
		return 2;
	for (int i = 4; i < argc; i++) {
		thread |= strcmp(argv[i], "thread") == 0;
		guards |= strcmp(argv[i], "guards") == 0;
		timed |= strcmp(argv[i], "time") == 0;
	}
	if (!thread) {
		schedule(NULL);
		return 0;
	}
	if (pthread_create(&t, NULL, schedule, NULL))
		return 1;
	pthread_join(t, NULL);
	return 0;
}

/* known_answer_mallocx.c - blocks of mallocx and what they hold: LEAK for those that are lost, and for no other. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -l:libjemalloc.so.2 */
/*
 * Prints as known_answer.c does and waits for the end of its input. With the
 * argument "moves" the block that holds others is resized by rallocx and xallocx
 * without pause meanwhile.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *mallocx(size_t size, int flags);
extern void *rallocx(void *p, size_t size, int flags);
extern size_t xallocx(void *p, size_t size, size_t extra, int flags);
extern void dallocx(void *p, int flags);

enum { N = 100, SIZE = 72 };

#define OWN __attribute__((noinline, noclone, no_icf))
#define MAKER(name, call) \
	static OWN void *k_##name(size_t n) \
	{ \
		void *p = call; \
		if (!p) \
			abort(); \
		memset(p, 0, n); \
		return p; \
	}
MAKER(holder, mallocx(n, 6))
MAKER(held_by_mallocx, malloc(n))
MAKER(mallocx_held_by_malloc, mallocx(n, 0))
MAKER(malloc_holder, malloc(n))
MAKER(lost, mallocx(n, 0))
MAKER(lost_head, mallocx(n, 0x40))
MAKER(held_by_lost, malloc(n))
MAKER(freed, mallocx(n, 0))

void **volatile holder, **volatile malloc_holder;
static atomic_bool end;

static void say(const char *name, const char *truth)
{
	printf("CASE k_%s %s %d\n", name, truth, N);
}

static OWN void make(void)
{
	holder = k_holder(N * sizeof(void *));
	malloc_holder = k_malloc_holder(N * sizeof(void *));
	for (int i = 0; i < N; i++) {
		void **head = k_lost_head(SIZE);

		holder[i] = k_held_by_mallocx(SIZE);
		malloc_holder[i] = k_mallocx_held_by_malloc(SIZE);
		*head = k_held_by_lost(SIZE);
		k_lost(SIZE);
		dallocx(k_freed(SIZE), 0);
	}
	say("held_by_mallocx", "held");
	say("mallocx_held_by_malloc", "held");
	say("lost_head", "lost");
	say("held_by_lost", "lost");
	say("lost", "lost");
}

/* The holder of all moves, and its contents with it. */
static void *move(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !end; i++) {
		void *p = rallocx(holder, (N + i % 7 * 1000) * sizeof(void *), i % 13);

		if (!p)
			abort();
		holder = p;
		xallocx(p, N * sizeof(void *), 64, 0);
	}
	return NULL;
}

/* no pointer of make() stays below */
static OWN void clear_stack(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

int main(int argc, char **argv)
{
	bool moves = argc > 1 && !strcmp(argv[1], "moves");
	pthread_t mover;
	char c;

	make();
	clear_stack();
	if (moves && pthread_create(&mover, NULL, move, NULL))
		return 2;
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	end = true;
	if (moves)
		pthread_join(mover, NULL);
	return 0;
}

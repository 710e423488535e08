/* moves_fast.c - three threads move blocks between lists as fast as they can; 100 blocks of 4,000 bytes are lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/scrub.h"

enum { THREADS = 3, LISTS = 16384, PER_LIST = 4, LOST = 100, BYTES = 4000 };

struct item {
	struct item *next;
	char name[40];
};

static struct item **tables[THREADS];

__attribute__((noinline)) static void lose(void)
{
	void *volatile p = malloc(BYTES);

	memset(p, 1, BYTES);
}

/* Takes the first item of one list and makes it the first of another. */
static void *move(void *number)
{
	struct item **lists = tables[*(int *)number];
	unsigned seed = 1;

	for (;;) {
		unsigned from, to;
		struct item *x;

		seed = seed * 1103515245 + 12345;
		from = (seed >> 8) % LISTS;
		seed = seed * 1103515245 + 12345;
		to = (seed >> 8) % LISTS;
		x = lists[from];
		if (!x)
			continue;
		lists[from] = x->next;
		x->next = lists[to];
		lists[to] = x;
	}
	return NULL;
}

int main(void)
{
	static int numbers[THREADS];
	pthread_t thread;

	for (int i = 0; i < LOST; i++)
		lose();
	scrub();
	for (int t = 0; t < THREADS; t++) {
		tables[t] = calloc(LISTS, sizeof(*tables[t]));
		for (int i = 0; i < LISTS * PER_LIST; i++) {
			struct item *x = calloc(1, sizeof(*x));

			x->next = tables[t][i % LISTS];
			tables[t][i % LISTS] = x;
		}
		numbers[t] = t;
		if (pthread_create(&thread, NULL, move, &numbers[t]) != 0)
			return 1;
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (getchar() != EOF)
		;
	_exit(0);
}

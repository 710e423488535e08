/* steady_load.c - a fixed amount of allocations on demand, and the time that it took. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/many_stacks.h"

enum { SITES = 2000, RING = 64 };

static void *held[SITES], *ring[RING];
static unsigned at;

static double seconds(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Each of many sites holds one block. */
static void hold(size_t i)
{
	free(held[i]);
	held[i] = malloc(32 + i % 480);
}

/* One site, blocks that live for a while. */
static void pass(size_t unused)
{
	(void)unused;
	free(ring[at % RING]);
	ring[at % RING] = malloc(16 + at % 500);
	at++;
}

/*
 * steady_load pairs|sites: prints "ready". For each line "N" it allocates and
 * frees N times 2,000 blocks, and prints the seconds that this took: of the
 * clock on the wall, and of its own CPU time.
 */
int main(int argc, char **argv)
{
	int is_many = argc > 1 && strcmp(argv[1], "sites") == 0;
	char line[32];

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; i < SITES; i++)
		many_stacks_call(is_many ? i : 0, 11, is_many ? hold : pass);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		double wall = seconds(CLOCK_MONOTONIC);
		double own = seconds(CLOCK_PROCESS_CPUTIME_ID);

		for (long n = atol(line); n > 0; n--)
			for (unsigned i = 0; i < SITES; i++)
				many_stacks_call(is_many ? i : 0, 11, is_many ? hold : pass);
		wall = seconds(CLOCK_MONOTONIC) - wall;
		own = seconds(CLOCK_PROCESS_CPUTIME_ID) - own;
		printf("%.9f %.9f\n", wall, own);
	}
	return 0;
}

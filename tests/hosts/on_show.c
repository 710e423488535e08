/* on_show.c - a program for `seep top`: it does what is typed, one line at a time. */
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grow N      N blocks of 1,000 bytes from leak_here(), behind xmalloc()
 * shrink N    frees N of them
 * hold N      N blocks of 100 bytes from hold_here()
 * stacks N    one block of 64 to 127 bytes from each of N stacks, at one_of_many()
 * busy MS     allocates and frees for so long
 * drip MS     10 ms apart, a block of 1,000 bytes from leak_here(), for so long
 * inline N    N blocks of 50 bytes from inlined_here(), which is inlined
 * exit N      with this status; kill N: by this signal
 * Each line is answered by "done".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../lib/many_stacks.h"

enum { BLOCKS = 1000000, DEPTH = 20 };
static void *leaked[BLOCKS];
static size_t count;

__attribute__((noipa)) void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p)
		abort();
	return p;
}

__attribute__((noipa)) void leak_here(size_t size)
{
	leaked[count++ % BLOCKS] = xmalloc(size);
}

__attribute__((noipa)) void hold_here(void)
{
	static void *volatile last;

	last = malloc(100);
	(void)last;
}

static inline __attribute__((always_inline)) void *inlined_here(void)
{
	return malloc(50);
}

__attribute__((noipa)) void holds_an_inlined_one(void)
{
	static void *volatile last;

	last = inlined_here();
	(void)last;
}

__attribute__((noipa)) static void one_of_many(size_t path)
{
	leaked[count++ % BLOCKS] = malloc(64 + path % 64);
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noipa)) static void be_busy(double until)
{
	while (now() < until)
		for (int i = 0; i < 1000; i++)
			free(xmalloc(200));
}

__attribute__((noipa)) static void drip(double until)
{
	for (; now() < until; (void)usleep(10000))
		leak_here(1000);
}

static void obey(const char *what, long n)
{
	if (strcmp(what, "grow") == 0)
		for (long i = 0; i < n; i++)
			leak_here(1000);
	if (strcmp(what, "shrink") == 0)
		for (long i = 0; i < n && count > 0; i++)
			free(leaked[--count]);
	if (strcmp(what, "hold") == 0)
		for (long i = 0; i < n; i++)
			hold_here();
	if (strcmp(what, "stacks") == 0)
		for (long i = 0; i < n; i++)
			many_stacks_call((unsigned)i, DEPTH, one_of_many);
	if (strcmp(what, "inline") == 0)
		for (long i = 0; i < n; i++)
			holds_an_inlined_one();
	if (strcmp(what, "busy") == 0)
		be_busy(now() + (double)n / 1e3);
	if (strcmp(what, "drip") == 0)
		drip(now() + (double)n / 1e3);
	if (strcmp(what, "exit") == 0)
		exit((int)n);
	if (strcmp(what, "kill") == 0)
		(void)raise((int)n);
}

int main(void)
{
	char line[100], what[20];
	long n;

	(void)setvbuf(stdout, NULL, _IONBF, 0);
	(void)puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%19s %ld", what, &n) == 2)
			obey(what, n);
		(void)puts("done");
	}
	return 0;
}

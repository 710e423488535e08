/* irregular_sites.c - many call stacks that are all busy: what a long history has to bear. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/*
 * irregular_sites SITES MS
 *   Allocates up to three times in each of SITES stacks, keeps the last block
 *   of one stack in eight, rests for MS milliseconds, and so on until a SIGTERM.
 */
enum { MAX_SITES = 1 << 14 };

static void *kept[MAX_SITES];
static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

/* Figures that do not compress well, as those of a server. */
static unsigned next(void)
{
	static unsigned x = 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

static void left(unsigned site, unsigned bits, int depth);

__attribute__((noipa)) static void leaf(unsigned site)
{
	free(kept[site]);
	kept[site] = malloc(16 + next() % 4000);
	if (site % 8) {
		free(kept[site]);
		kept[site] = NULL;
	}
}

__attribute__((noipa)) static void right(unsigned site, unsigned bits, int depth)
{
	if (depth == 0)
		leaf(site);
	else if (bits & 1)
		right(site, bits >> 1, depth - 1);
	else
		left(site, bits >> 1, depth - 1);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) static void left(unsigned site, unsigned bits, int depth)
{
	if (depth == 0)
		leaf(site);
	else if (bits & 1)
		right(site, bits >> 1, depth - 1);
	else
		left(site, bits >> 1, depth - 1);
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	unsigned sites = argc > 1 ? (unsigned)atoi(argv[1]) : 500;
	long ms = argc > 2 ? atol(argv[2]) : 10;
	const struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	if (sites > MAX_SITES)
		return 2;
	(void)signal(SIGTERM, on_term);
	printf("PID %d\n", (int)getpid());
	(void)fflush(stdout);
	while (!stop) {
		for (unsigned i = 0; i < sites; i++)
			for (unsigned n = next() % 4; n > 0; n--)
				left(i, i, 14);
		(void)nanosleep(&rest, NULL);
	}
	return 0;
}

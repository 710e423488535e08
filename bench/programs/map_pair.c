/* map_pair.c - mmap and munmap in turn; prints nanoseconds of one pair. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* map_pair [DEPTH [ROUNDS [PAGES [TOUCHED]]]]: of each mapping, TOUCHED pages are written */
enum { PAGE = 4096, SAMPLES = 25 };

static size_t pages = 16, touched;
static long rounds = 2000;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static double measure(void)
{
	uint64_t begin = now();

	for (long i = 0; i < rounds; i++) {
		/* other rights than its neighbours: they do not become one */
		char *p = mmap(NULL, pages * PAGE, PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			exit(1);
		for (size_t k = 0; k < touched; k++)
			p[k * PAGE] = 1;
		munmap(p, pages * PAGE);
	}
	return (double)(now() - begin) / (double)rounds;
}

/* The best of several, at the end of a stack of this depth. */
static __attribute__((noinline)) double dive(int depth)
{
	double best = 1e18, t;

	if (depth > 0) {
		t = dive(depth - 1);
		__asm__ volatile("" ::: "memory");
		return t;
	}
	for (int i = 0; i < SAMPLES; i++) {
		t = measure();
		best = t < best ? t : best;
	}
	return best;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 10;

	rounds = argc > 2 ? atol(argv[2]) : rounds;
	pages = argc > 3 ? (size_t)atol(argv[3]) : pages;
	touched = argc > 4 ? (size_t)atol(argv[4]) : touched;
	printf("%.1f\n", dive(depth));
	return 0;
}

/* ways.c - ns per malloc+free pair when the outer frames are drawn at random. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: ways K PAIRS [LIVE]
 *
 * Each allocation is made below 20 frames: main, the loop, four functions
 * drawn at random, each from K of its own (so K^4 ways, K at most 27), and
 * below them the same 14 frames every time. The frames of one level have one
 * size, so the inner frames stay where they are and only the outer words
 * change. Blocks of 16 to 512 bytes live in a ring of 16; with LIVE, in that
 * many slots, and a random one is replaced. Every way is taken once, and every
 * slot filled, before the clock starts. Prints ns per pair.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noipa))
#define USE(x)   __asm__ volatile("" : : "r"(x) : "memory")

enum { LEVELS = 4, WIDTH = 27, RING = 16 };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* which function of each level is called next */
static uint8_t way[LEVELS];

static NOINLINE void *leaf(size_t size)
{
	void *p = malloc(size);

	USE(p);
	return p;
}

#define STEP(name, bytes, next) \
	static NOINLINE void *name(size_t size) \
	{ \
		volatile char room[bytes]; \
		void *p; \
\
		room[0] = 1; \
		p = next(size); \
		USE(room[0]); \
		return p; \
	}

STEP(below1, 24, leaf)
STEP(below2, 56, below1)
STEP(below3, 8, below2)
STEP(below4, 72, below3)
STEP(below5, 40, below4)
STEP(below6, 104, below5)
STEP(below7, 16, below6)
STEP(below8, 56, below7)
STEP(below9, 24, below8)
STEP(below10, 88, below9)
STEP(below11, 8, below10)
STEP(below12, 40, below11)
STEP(below13, 64, below12)

/* 27 functions with frames of the same size, which gcc does not fold: noipa */
#define THREE(n, a, bytes, next) \
	STEP(n##a##x, bytes, next) \
	STEP(n##a##y, bytes, next) STEP(n##a##z, bytes, next)
#define NINE(n, a, bytes, next) \
	THREE(n, a##p, bytes, next) \
	THREE(n, a##q, bytes, next) THREE(n, a##r, bytes, next)
#define NAMES3(n, a) n##a##x, n##a##y, n##a##z
#define NAMES9(n, a) NAMES3(n, a##p), NAMES3(n, a##q), NAMES3(n, a##r)
#define LEVEL(n, bytes, next) \
	NINE(n, a, bytes, next) \
	NINE(n, b, bytes, next) \
	NINE(n, c, bytes, next) \
	static void *(*const n[WIDTH])(size_t) = {NAMES9(n, a), NAMES9(n, b), NAMES9(n, c)};

LEVEL(fourth, 40, below13)
#define FOURTH(size) fourth[way[3]](size)
LEVEL(third, 24, FOURTH)
#define THIRD(size) third[way[2]](size)
LEVEL(second, 72, THIRD)
#define SECOND(size) second[way[1]](size)
LEVEL(outermost, 8, SECOND)

static uint64_t next_random(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return *x >> 33;
}

/* Replaces the block of a slot by one that is allocated in way number r. */
static inline __attribute__((always_inline)) void replace(
    void **slot, uint64_t r, uint32_t k, uint64_t *x)
{
	for (int l = 0; l < LEVELS; l++) {
		way[l] = (uint8_t)(r % k);
		r /= k;
	}
	free(*slot);
	*slot = outermost[way[0]](16 + next_random(x) % 497);
	*(volatile char *)*slot = 1;
}

/* One loop, so that the ways that are taken first are those of later on. */
static NOINLINE double loop(uint32_t k, long pairs, void **slots, uint64_t live)
{
	const uint64_t ways = (uint64_t)k * k * k * k;
	const long before = (long)(ways > live ? ways : live);
	uint64_t x = 42;
	double begin_ns = 0;

	for (long i = -before; i < pairs; i++) {
		uint64_t at = (uint64_t)(i + before) % live;
		uint64_t r = (uint64_t)(i + before);

		if (i == 0)
			begin_ns = now_ns();
		if (i >= 0) {
			r = next_random(&x);
			if (live > RING)
				at = next_random(&x) % live;
		}
		replace(&slots[at], r, k, &x);
	}
	return (now_ns() - begin_ns) / (double)pairs;
}

int main(int argc, char **argv)
{
	uint64_t live;
	long pairs;
	void **slots;
	int k;

	if (argc < 3) {
		fputs("usage: ways K PAIRS [LIVE]\n", stderr);
		return 2;
	}
	k = atoi(argv[1]);
	pairs = atol(argv[2]);
	live = argc > 3 ? strtoull(argv[3], NULL, 10) : RING;
	slots = calloc(live, sizeof(*slots));
	if (!slots || k < 1 || k > WIDTH || pairs < 1 || live < RING)
		return 2;
	printf("%.3f\n", loop((uint32_t)k, pairs, slots, live));
	return 0;
}

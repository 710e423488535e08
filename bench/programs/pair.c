/* pair.c - ns per malloc+free pair below a call chain of a chosen depth. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: pair DEPTH PAIRS THREADS [PATHS]
 *
 * Descends through distinct functions with frames of different sizes until
 * main, the chain, the loop and the leaf make DEPTH frames, then
 * allocates and frees PAIRS blocks of 16 to 512 bytes through a ring of 16,
 * so that a block dies 16 allocations after its birth. With PATHS = 8 each
 * allocation takes one of eight ways of four functions each below the loop.
 * Prints one number: ns per pair, the mean over the threads.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noipa))

enum {
	RING = 16,
	CHAIN = 64,
	THREADS_MAX = 64,
	WAY_FRAMES = 4,
	/* there whatever the chain: main (or the thread), run, loop, leaf */
	FIXED_FRAMES = 4,
};

static long pairs;
static int chain_frames;
static int paths;

/*
 * Something left to do after a call, so that the frame stays. Not a store into
 * a word that all threads share: with two of them its cache line went back and
 * forth, and what any profiler stored had to wait behind it.
 */
#define USE(x) __asm__ volatile("" : : "r"(x) : "memory")

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static NOINLINE void *leaf(size_t size)
{
	void *p = malloc(size);

	USE(p);
	return p;
}

/* A frame of its own size, a call, something left to do. */
#define STEP(type, name, param, bytes, next) \
	static NOINLINE type name(param) \
	{ \
		volatile char room[bytes]; \
		type result; \
\
		room[0] = 1; \
		result = next; \
		USE(room[0]); \
		return result; \
	}

#define WAY(n, a, b, c, d) \
	STEP(void *, way##n##_3, size_t size, a, leaf(size)) \
	STEP(void *, way##n##_2, size_t size, b, way##n##_3(size)) \
	STEP(void *, way##n##_1, size_t size, c, way##n##_2(size)) \
	STEP(void *, way##n##_0, size_t size, d, way##n##_1(size))

WAY(0, 56, 40, 24, 8)
WAY(1, 72, 56, 40, 24)
WAY(2, 8, 72, 56, 40)
WAY(3, 24, 8, 72, 56)
WAY(4, 40, 24, 8, 72)
WAY(5, 56, 8, 24, 40)
WAY(6, 72, 40, 56, 24)
WAY(7, 8, 24, 72, 40)

static void *(*const ways[8])(size_t) = {
    way0_0, way1_0, way2_0, way3_0, way4_0, way5_0, way6_0, way7_0};

static NOINLINE double loop(void)
{
	void *ring[RING] = {NULL};
	uint32_t x = 12345;
	double begin_ns = now_ns(), end_ns;

	for (long i = 0; i < pairs; i++) {
		unsigned slot = (unsigned)i % RING;
		size_t size;

		x = x * 1664525u + 1013904223u;
		size = 16 + (x >> 16) % 497;
		free(ring[slot]);
		ring[slot] = paths > 1 ? ways[x >> 25 & 7](size) : leaf(size);
		*(volatile char *)ring[slot] = 1;
	}
	end_ns = now_ns();
	for (int i = 0; i < RING; i++)
		free(ring[i]);
	return (end_ns - begin_ns) / (double)pairs;
}

/* chain<n> calls chain<n-1> until `left` frames are used up */
#define CHAIN_STEP(n, below, bytes) \
	STEP(double, chain##n, int left, bytes, left <= 1 ? loop() : below(left - 1))

static NOINLINE double chain0(int left)
{
	(void)left;
	return loop();
}

#define EIGHT(z, a, b, c, d, e, f, g, h) \
	CHAIN_STEP(a, z, 8) \
	CHAIN_STEP(b, chain##a, 64) \
	CHAIN_STEP(c, chain##b, 16) \
	CHAIN_STEP(d, chain##c, 72) \
	CHAIN_STEP(e, chain##d, 24) \
	CHAIN_STEP(f, chain##e, 104) \
	CHAIN_STEP(g, chain##f, 40) \
	CHAIN_STEP(h, chain##g, 88)

EIGHT(chain0, 1, 2, 3, 4, 5, 6, 7, 8)
EIGHT(chain8, 9, 10, 11, 12, 13, 14, 15, 16)
EIGHT(chain16, 17, 18, 19, 20, 21, 22, 23, 24)
EIGHT(chain24, 25, 26, 27, 28, 29, 30, 31, 32)
EIGHT(chain32, 33, 34, 35, 36, 37, 38, 39, 40)
EIGHT(chain40, 41, 42, 43, 44, 45, 46, 47, 48)
EIGHT(chain48, 49, 50, 51, 52, 53, 54, 55, 56)
EIGHT(chain56, 57, 58, 59, 60, 61, 62, 63, 64)

static NOINLINE void *run(void *arg)
{
	double *ret_ns = arg;

	*ret_ns = chain_frames > 0 ? chain64(chain_frames) : loop();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	double ns[THREADS_MAX], sum = 0;
	int depth, count;

	if (argc < 4) {
		fputs("usage: pair DEPTH PAIRS THREADS [PATHS]\n", stderr);
		return 2;
	}
	depth = atoi(argv[1]);
	pairs = atol(argv[2]);
	count = atoi(argv[3]);
	paths = argc > 4 ? atoi(argv[4]) : 1;
	chain_frames = depth - FIXED_FRAMES - (paths > 1 ? WAY_FRAMES : 0);
	if (count < 1 || count > THREADS_MAX || pairs < 1 || chain_frames > CHAIN) {
		fputs("pair: out of range\n", stderr);
		return 2;
	}

	if (count == 1) {
		run(&ns[0]);
	} else {
		for (int i = 0; i < count; i++) {
			if (pthread_create(&threads[i], NULL, run, &ns[i]))
				return 1;
		}
		for (int i = 0; i < count; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < count; i++)
		sum += ns[i];
	printf("%.3f\n", sum / count);
	return 0;
}

/* paths.c - 1,000 random call paths, a million live blocks, random frees. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: paths LIVE OPS
 *
 * Fills LIVE slots with blocks of 16 to 127 bytes, then OPS times frees a
 * random one and allocates another, each through one of 10 x 10 x 10 ways of
 * three functions. Nothing repeats soon: the worst case for every memo and
 * every cache. Prints ns per free+malloc of the second part.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noipa))

/* Something left to do after a call, so that the frame stays. */
#define USE(x) __asm__ volatile("" : : "r"(x) : "memory")

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static NOINLINE void *leaf(size_t size, uint32_t way)
{
	void *p = malloc(size);

	(void)way;
	USE(p);
	return p;
}

typedef void *step_fn(size_t size, uint32_t way);

#define STEP(name, bytes, next) \
	static NOINLINE void *name(size_t size, uint32_t way) \
	{ \
		volatile char room[bytes]; \
		void *p; \
\
		room[0] = 1; \
		p = next(size, way); \
		USE(room[0]); \
		return p; \
	}

#define TEN(name, next) \
	STEP(name##0, 8, next) \
	STEP(name##1, 24, next) \
	STEP(name##2, 40, next) \
	STEP(name##3, 56, next) \
	STEP(name##4, 72, next) \
	STEP(name##5, 8, next) \
	STEP(name##6, 24, next) \
	STEP(name##7, 40, next) \
	STEP(name##8, 56, next) \
	STEP(name##9, 72, next) \
	static step_fn *const name[] = {name##0, name##1, name##2, name##3, name##4, name##5, \
	    name##6, name##7, name##8, name##9};

TEN(inner, leaf)
#define INNER(size, way) inner[(way) % 10](size, way)
TEN(middle, INNER)
#define MIDDLE(size, way) middle[(way) / 10 % 10](size, way)
TEN(outer, MIDDLE)

static uint64_t next_random(uint64_t *x)
{
	*x = *x * 6364136223846793005u + 1442695040888963407u;
	return *x >> 33;
}

static NOINLINE void *one(uint64_t *x)
{
	uint32_t way = (uint32_t)(next_random(x) % 1000);
	char *p = outer[way / 100](16 + next_random(x) % 112, way);

	*p = 1;
	return p;
}

int main(int argc, char **argv)
{
	uint64_t x = 42;
	long live, ops;
	double begin_ns;
	void **slots;

	if (argc < 3) {
		fputs("usage: paths LIVE OPS\n", stderr);
		return 2;
	}
	live = atol(argv[1]);
	ops = atol(argv[2]);
	slots = calloc((size_t)live, sizeof(*slots));
	if (!slots || live < 1 || ops < 1)
		return 2;
	for (long i = 0; i < live; i++)
		slots[i] = one(&x);
	begin_ns = now_ns();
	for (long i = 0; i < ops; i++) {
		uint64_t at = next_random(&x) % (uint64_t)live;

		free(slots[at]);
		slots[at] = one(&x);
	}
	printf("%.3f\n", (now_ns() - begin_ns) / (double)ops);
	return 0;
}

/* forest.c - a hundred thousand stacks of 256 functions, as a large program has them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

/*
 * forest [STACKS]: stack i shares its outer frames with its neighbours, as the
 * digits of i say; a dozen inner frames are its own. Each allocates a block
 * and keeps every other one.
 */
enum { STACKS = 100000, LEVELS = 10, TAIL = 12, FUNCTIONS = 256 };

struct walk {
	uint32_t stack;
	uint32_t left; /* frames yet to come */
};

static void *volatile sink;
typedef void step(struct walk w);
static step *const functions[FUNCTIONS];

static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* What the frames from here on depend on: more and more of the number. */
static uint32_t prefix(struct walk w)
{
	uint32_t divisor = 1;

	for (uint32_t i = TAIL; i < w.left; i += 2)
		divisor *= 10;
	return w.stack / divisor * 32 + w.left;
}

static void go_on(struct walk w)
{
	if (w.left > 0) {
		uint32_t next = mix(prefix(w)) % FUNCTIONS;

		w.left--;
		functions[next](w);
	} else {
		sink = malloc(16 + mix(w.stack) % 2000);
		if (w.stack % 2)
			free(sink);
	}
}

#define F(n) \
	static __attribute__((noinline)) void work_##n(struct walk w) \
	{ \
		go_on(w); \
		__asm__ volatile("" ::: "memory"); \
	}
#define NAME(n)       work_##n,
#define FOUR(X, n)    X(n##0) X(n##1) X(n##2) X(n##3)
#define SIXTEEN(X, n) FOUR(X, n##0) FOUR(X, n##1) FOUR(X, n##2) FOUR(X, n##3)
#define ALL(X, n)     SIXTEEN(X, n##0) SIXTEEN(X, n##1) SIXTEEN(X, n##2) SIXTEEN(X, n##3)

ALL(F, a)
ALL(F, b)
ALL(F, c)
ALL(F, d)

static step *const functions[FUNCTIONS] = {ALL(NAME, a) ALL(NAME, b) ALL(NAME, c) ALL(NAME, d)};

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : STACKS;

	for (uint32_t i = 0; i < count; i++)
		go_on((struct walk){.stack = i, .left = LEVELS + TAIL});
	return 0;
}

/* turns.c - COUNT distinct stacks, whose outer frames take turns: each is a site of its own, with all its frames. */
/* flags: -O1 -fno-optimize-sibling-calls */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: turns COUNT
 *
 * Four levels of 32 functions, so 2^20 ways, and below them the same 12
 * functions each time. Every block is freed, but for that of the last way.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noipa))
#define USE(x)   __asm__ volatile("" : : "r"(x) : "memory")

static unsigned way[4];

static NOINLINE void *leaf(void)
{
	void *p = malloc(24);

	USE(p);
	return p;
}

#define STEP(name, next) \
	static NOINLINE void *name(void) \
	{ \
		void *p = next; \
\
		USE(p); \
		return p; \
	}
STEP(below1, leaf())
STEP(below2, below1())
STEP(below3, below2())
STEP(below4, below3())
STEP(below5, below4())
STEP(below6, below5())
STEP(below7, below6())
STEP(below8, below7())
STEP(below9, below8())
STEP(below10, below9())
STEP(below11, below10())

#define TWO(n, a, next)   STEP(n##a##x, next) STEP(n##a##y, next)
#define FOUR(n, a, next)  TWO(n, a##x, next) TWO(n, a##y, next)
#define EIGHT(n, a, next) FOUR(n, a##x, next) FOUR(n, a##y, next)
#define NAMES2(n, a)      n##a##x, n##a##y
#define NAMES4(n, a)      NAMES2(n, a##x), NAMES2(n, a##y)
#define NAMES8(n, a)      NAMES4(n, a##x), NAMES4(n, a##y)
#define LEVEL(n, next) \
	EIGHT(n, a, next) \
	EIGHT(n, b, next) \
	EIGHT(n, c, next) \
	EIGHT(n, d, next) \
	static void *(*const n[32])(void) = { \
	    NAMES8(n, a), NAMES8(n, b), NAMES8(n, c), NAMES8(n, d)};

LEVEL(fourth, below11())
LEVEL(third, fourth[way[3]]())
LEVEL(second, third[way[2]]())
LEVEL(outermost, second[way[1]]())

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long i;
	void *p = NULL;

	if (count < 1 || count > 1ul << 20) {
		fputs("usage: turns COUNT\n", stderr);
		return 2;
	}
	for (i = 0; i < count; i++) {
		free(p);
		for (int l = 0; l < 4; l++)
			way[l] = i >> 5 * l & 31;
		p = outermost[way[0]]();
	}
	USE(p);
	return 0;
}

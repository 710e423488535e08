/* page.c - what a page must show: growth in steps, marks, pools, odd names, very many sites. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "seep.h"

#define NOINLINE  static __attribute__((noinline))
#define BARRIER() __asm__ volatile("" ::: "memory")

/*
 * page [many|waves|tidy|still]: takes about a second, in which step_keep()
 * leaks 10 blocks of 1,000 bytes a step, step_churn() frees all it takes,
 * functions with hostile names leak a little, mixed() blocks of several sizes.
 * "many": 2,048 stacks that hardly matter beside one that does. "waves": the
 * same stacks again and again, all of them changing at each look. "tidy": all
 * is freed. "still": sleeps after the first leaks, until it is killed.
 */
enum {
	STEPS = 12,
	STEP_NS = 80000000,
	HEAVY = 200000,
	WAVES = 50,
	WAVE_NS = 30000000,
	STILL = 700, /* steps: about a minute */
};

static void *volatile sink;

NOINLINE void step_keep(void)
{
	for (int i = 0; i < 10; i++)
		sink = malloc(1000);
}

NOINLINE void step_churn(void)
{
	for (int i = 0; i < 500; i++) {
		sink = malloc(16 + (size_t)i);
		free(sink);
	}
}

/* names are what the object file says: see the assembler's quoted symbols */
#define ODD(number, name, size) \
	NOINLINE void odd_##number(void) __asm__("\"" name "\""); \
	NOINLINE void odd_##number(void) \
	{ \
		sink = malloc(size); \
		BARRIER(); \
	}

ODD(0, "</script><script>window.pwned=1</script>", 3001)
ODD(1, "<img src=x onerror=window.pwned=1>", 3002)
ODD(2, "a'b&quot;c&lt;d--><!--", 3003)
ODD(3, "right\u202eleft\u2066\u200b", 3004)
ODD(4, "\u05d0\u05d1\u05d2(\u0627\u0644)", 3005)
ODD(5, "bell\a tab\t escape\033[31m", 3006)
ODD(6, "${window.pwned=1}javascript:window.pwned=1", 3007)
ODD(7, "@SEEP-DATA@", 3008)

NOINLINE void odd_all(void)
{
	odd_0();
	odd_1();
	odd_2();
	odd_3();
	odd_4();
	odd_5();
	odd_6();
	odd_7();
	BARRIER();
}

/* several sizes in one place: a histogram has something to show */
NOINLINE void mixed(void)
{
	static const size_t sizes[] = {24, 30, 100, 90, 70, 5000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		sink = malloc(sizes[i]);
}

NOINLINE void descend(unsigned path, int bits);

NOINLINE void left(unsigned path, int bits)
{
	descend(path, bits - 1);
	BARRIER();
}

NOINLINE void right(unsigned path, int bits)
{
	descend(path, bits - 1);
	BARRIER();
}

NOINLINE void descend(unsigned path, int bits)
{
	if (bits == 0)
		sink = malloc(1 + path % 16);
	else if (path >> (bits - 1) & 1)
		right(path, bits);
	else
		left(path, bits);
	BARRIER();
}

NOINLINE void heavy(void)
{
	for (int i = 0; i < HEAVY; i++) {
		free(malloc(100));
		sink = malloc(200);
	}
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = STEP_NS};
	const struct timespec moment = {.tv_nsec = WAVE_NS};
	static char handles[4];

	if (argc > 1 && strcmp(argv[1], "tidy") == 0) {
		step_churn();
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "still") != 0) {
		bool waves = strcmp(argv[1], "waves") == 0;

		for (unsigned i = 0; i < (waves ? WAVES : 1) * 2048u; i++) {
			descend(i % 2048, 11);
			if (waves && i % 2048 == 0)
				nanosleep(&moment, NULL);
		}
		heavy();
		return 0;
	}
	odd_all();
	mixed();
	for (int i = 0; argc > 1 && i < STILL; i++)
		nanosleep(&pause, NULL); /* it is killed, as a rule */
	for (int i = 0; i < 3; i++)
		seep_alloc("handles", &handles[i], 64);
	for (int i = 0; i < STEPS; i++) {
		if (i == STEPS / 2)
			seep_mark("half way");
		step_keep();
		step_churn();
		nanosleep(&pause, NULL);
	}
	return 0;
}

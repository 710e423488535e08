/* blocks_age_in_a_sandbox.c - under seccomp's strict mode blocks may be freed at any age, because counting ages needs no system call. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T95 */
/* also: mappings */
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/many_stacks.h"

enum { KEPT = 64, AGES = 3 };

static void spin(uint64_t rounds)
{
	for (volatile uint64_t i = 0; i < rounds; i++)
		;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What takes about 50 ms: the clock itself may be a system call. */
static uint64_t measure(void)
{
	uint64_t rounds = 1 << 16;
	int64_t begin;

	do {
		rounds *= 2;
		begin = now_ms();
		spin(rounds);
	} while (now_ms() - begin < 50);
	return rounds;
}

int main(void)
{
	/* in the tick of birth, and in two steps behind it */
	static const int pauses[AGES] = {0, 3, 4};
	void *volatile warm = malloc(200000);
	void *kept[AGES][KEPT];
	uint64_t rounds = measure();
	long n;

	free(warm); /* what comes now fits into what the heap has */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 77;
	for (int i = 0; i < AGES * KEPT; i++)
		kept[i / KEPT][i % KEPT] = many_stacks(i, i % 8, (size_t)(i >> i % 8) % 300 + 1);
	for (int i = 0; i < AGES; i++) {
		for (int k = 0; k < pauses[i]; k++)
			spin(rounds);
		for (int k = 0; k < 200; k++) /* the collector sees the time */
			free(many_stacks(k, 3, (size_t)k / 8 + 1));
		for (int k = 0; k < KEPT; k++)
			free(kept[i][k]);
	}
	n = write(1, "alive\n", 6);
	syscall(SYS_exit, n == 6 ? 0 : 1);
	return 1;
}

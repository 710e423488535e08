/* slow_steps.c - six blocks, one in 0.2 s: each is allocated at the time that this program prints. */
/* flags: -O1 */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * usage: slow_steps
 *
 * Prints the time of each, in ms since main() began. The third is resized, and the
 * fourth is freed, 0.2 s after the last. All have one size and one call stack, so
 * there is nothing new about them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEPS = 6, STEP_MS = 200, BYTES = 5000 };

static struct timespec start;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec - start.tv_sec) * 1000 + (t.tv_nsec - start.tv_nsec) / 1000000;
}

static void pause_a_step(void)
{
	const struct timespec t = {0, STEP_MS * 1000000L};

	nanosleep(&t, NULL);
}

int main(void)
{
	static char out[4096];
	void *blocks[STEPS];
	int i;

	setvbuf(stdout, out, _IOFBF, sizeof(out));
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (i = 0; i < STEPS; i++) {
		pause_a_step();
		printf("alloc %d %ld\n", BYTES, now_ms());
		blocks[i] = malloc(BYTES);
		if (!blocks[i])
			return 1;
	}
	pause_a_step();
	printf("realloc %d %ld\n", 2 * BYTES, now_ms());
	blocks[2] = realloc(blocks[2], 2 * (size_t)BYTES);
	printf("free %d %ld\n", BYTES, now_ms());
	free(blocks[3]);
	return blocks[2] ? 0 : 1;
}

/* paced.c - so many events a second from one thread, neither more nor less: none of them may be missing in the log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * paced EVENTS_PER_SECOND SECONDS [mixed]. Each millisecond has its share, at once; then
 * the thread waits for the next one. If the machine takes it away for longer, it
 * does not catch up. Prints how many events there were. `mixed`: sizes are in no
 * order, so that a log of them cannot be packed well.
 */
enum { LIVE = 1000, NS = 1000000000, STEP_NS = 1000000 };

static long long now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * NS + t.tv_nsec;
}

int main(int argc, char **argv)
{
	static void *blocks[LIVE];
	long per_step = argc > 1 ? atol(argv[1]) / 1000 : 2000;
	long long end = now_ns() + (argc > 2 ? atoll(argv[2]) : 1) * (long long)NS;
	const bool mixed = argc > 3;
	unsigned long events = 0;
	uint64_t seed = 1;

	while (now_ns() < end) {
		long long next = now_ns() + STEP_NS;

		for (long i = 0; i < per_step; i += 2, events += 2) {
			void **at = &blocks[events / 2 % LIVE];

			free(*at);
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			*at = malloc(16 + (mixed ? seed >> 33 : events) % 500);
		}
		while (now_ns() < next)
			;
	}
	printf("%lu events\n", events);
	return 0;
}

/* busy_sites.c - every SECOND/10 all of N call stacks allocate; half of that is freed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../lib/many_stacks.h"

static void **last;
static int is_odd;

static void allocate(size_t i)
{
	if (is_odd)
		free(last[i]);
	last[i] = malloc(64 + i % 64);
}

/*
 * busy_sites N ROUNDS: so many stacks, so many rounds (0: none after the first),
 * then it waits. Ends when its standard input does.
 */
int main(int argc, char **argv)
{
	int sites = argc > 1 ? atoi(argv[1]) : 100;
	long rounds = argc > 2 ? atol(argv[2]) : 1000000;
	struct pollfd in = {.fd = 0, .events = POLLIN};

	last = calloc((size_t)sites, sizeof(*last));
	if (!last)
		return 1;
	for (long round = 0;; round++) {
		is_odd = (int)(round % 2);
		for (int i = 0; i < sites && round <= rounds; i++)
			many_stacks_call((unsigned)i, 13, allocate);
		if (round == 0) {
			puts("ready");
			(void)fflush(stdout);
		}
		if (poll(&in, 1, round < rounds ? 100 : -1) > 0)
			break;
	}
	free(last);
	return 0;
}

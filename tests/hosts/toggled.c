/* toggled.c - switched on and off from outside: what was allocated while on is known, other frees are untracked. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#define SITES(X) X(alloc_first) X(alloc_second) X(alloc_third)
#include "../lib/ledger.h"

/*
 * Each line on stdin lets it do the next step, which it answers with a line:
 *   first    1,000 blocks by alloc_first
 *   second   2,000 blocks by alloc_second
 *   third    frees all of the first and half of the second, 500 blocks by
 *            alloc_third
 *   end      prints what it did
 */
static void *first[1000], *second[2000], *third[500];

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(alloc_first)
ALLOC_FN(alloc_second)
ALLOC_FN(alloc_third)

static void wait_for_line(const char *answer)
{
	char c = 0;

	led_say(1, answer);
	while (c != '\n')
		if (read(0, &c, 1) != 1)
			_exit(0);
}

int main(void)
{
	wait_for_line("ready\n");
	for (int i = 0; i < 1000; i++) {
		first[i] = alloc_first(100);
		led_alloc(L_alloc_first, 100);
	}
	wait_for_line("first\n");
	for (int i = 0; i < 2000; i++) {
		second[i] = alloc_second(30);
		led_alloc(L_alloc_second, 30);
	}
	wait_for_line("second\n");
	for (int i = 0; i < 1000; i++) {
		led_free(L_alloc_first, 100);
		free(first[i]);
		led_free(L_alloc_second, 30);
		free(second[i]);
	}
	for (int i = 0; i < 500; i++) {
		third[i] = alloc_third(7);
		led_alloc(L_alloc_third, 7);
	}
	wait_for_line("third\n");
	led_print(1);
	return 0;
}

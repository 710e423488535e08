/* deep.c - 60,000 frames deep: counts exact, the cut stacks counted, no time lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#define SITES(X) X(alloc_deep)
#include "../lib/ledger.h"

enum { DEPTH = 60000, EVERY = 300 };

SITE_FN static void alloc_deep(size_t size_bytes)
{
	void *p = led_keep(malloc(size_bytes));

	led_check(p, "malloc");
	led_alloc(L_alloc_deep, size_bytes);
	if (size_bytes % 2) {
		led_free(L_alloc_deep, size_bytes);
		free(p);
	}
}

SITE_FN static void descend(size_t depth)
{
	if (depth % EVERY == 0)
		alloc_deep(depth / EVERY);
	if (depth > 0)
		descend(depth - 1);
	__asm__ volatile("" ::: "memory"); /* no tail call */
}

int main(void)
{
	descend(DEPTH);
	led_print(1);
	return 0;
}

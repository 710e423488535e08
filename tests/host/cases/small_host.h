/* small_host.h - a program that counts its own allocations exactly, for cases about its surroundings. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#define SITES(X) X(alloc_small) X(resize_small)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_small(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *resize_small(void *p, size_t n)
{
	return led_keep(realloc(p, n));
}

int main(void)
{
	for (size_t n = 1; n < 3000; n++) {
		void *p = alloc_small(n);

		led_check(p, "malloc");
		memset(p, 1, n);
		led_alloc(L_alloc_small, n);
		if (n % 3)
			continue; /* lives to the end */
		p = resize_small(p, 2 * n);
		led_free(L_alloc_small, n);
		led_alloc(L_resize_small, 2 * n);
		if (n % 2) {
			led_free(L_resize_small, 2 * n);
			free(p);
		}
	}
	led_print(1);
	return 0;
}

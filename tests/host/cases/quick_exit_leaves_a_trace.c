/* quick_exit_leaves_a_trace.c - quick_exit runs its own handlers and no destructors: no counted event is lost. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T42 */
/* status: 6 */
#include <stdlib.h>

#define SITES(X) X(alloc_before) X(alloc_in_handler)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_before(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *alloc_in_handler(size_t n)
{
	return led_keep(malloc(n));
}

static void handler(void)
{
	for (size_t n = 0; n < 100; n++) {
		led_keep(alloc_in_handler(n));
		led_alloc(L_alloc_in_handler, n);
	}
	led_print(1);
}

int main(void)
{
	at_quick_exit(handler);
	for (size_t n = 0; n < 1000; n++) {
		void *p = alloc_before(n);

		led_alloc(L_alloc_before, n);
		if (n % 3 == 0) {
			led_free(L_alloc_before, n);
			free(p);
		}
	}
	quick_exit(6);
}

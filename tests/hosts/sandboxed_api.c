/* sandboxed_api.c - marks, pools and pauses under a filter that kills for anything but malloc's own calls: alive. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "seep.h"

#define SITES(X) X(take) X(alloc_seen)
#include "../lib/ledger.h"
#include "../lib/sandbox.h"

SITE_FN static void take(uint64_t n)
{
	seep_alloc("pool", (void *)(uintptr_t)n, 3);
	led_alloc(L_take, 3);
}

SITE_FN static void alloc_seen(void)
{
	(void)led_keep(malloc(10));
	led_alloc(L_alloc_seen, 10);
}

int main(void)
{
	int pid = (int)getpid();

	free(led_keep(malloc(1))); /* libc's first one asks for randomness */
	led_check(sandbox_enter(), "seccomp");
	for (uint64_t n = 1; n <= 5000; n++) {
		take(n);
		alloc_seen();
		seep_mark("inside");
		if (n % 2) {
			led_free(L_take, 3);
			seep_free("pool", (void *)(uintptr_t)n);
		}
		seep_pause();
		free(led_keep(malloc(5)));
		seep_resume();
	}
	led_print_pid(1, pid);
	for (int i = 0; i < LED_SITES; i++)
		led_print_site(1, &led[i]);
	exit(0);
}

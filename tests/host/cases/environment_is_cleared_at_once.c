/* environment_is_cleared_at_once.c - a host that clears environ, argv and their memory before its first malloc is traced in the right directory. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T26 T81 */
#include <stdlib.h>

#define SITES(X) X(alloc_after)
#include "../../lib/ledger.h"

SITE_FN static void *alloc_after(size_t n)
{
	return led_keep(malloc(n));
}

int main(int argc, char **argv, char **envp)
{
	char *last = argv[argc - 1];

	for (char **e = envp; *e; e++)
		last = *e;
	/* as setproctitle does: all of it, to the end of the last string */
	memset(argv[0], 'X', (size_t)(last + strlen(last) - argv[0]));
	clearenv();
	for (size_t n = 0; n < 1000; n++) {
		void *p = alloc_after(n);

		led_alloc(L_alloc_after, n);
		if (n % 4 == 0) {
			led_free(L_alloc_after, n);
			free(p);
		}
	}
	led_print(1);
	return 0;
}

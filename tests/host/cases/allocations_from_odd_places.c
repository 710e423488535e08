/* allocations_from_odd_places.c - malloc in an IFUNC resolver, by a tail call, through a function pointer, below a signal frame: exact where the host knows. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T64 T19 */
/* flags: -fno-builtin -Wl,-z,lazy */
#include <signal.h>
#include <stdlib.h>

#define SITES(X) X(calls_the_tail) X(alloc_below_signal) X(by_pointer)
#include "../../lib/ledger.h"

static char *early; /* of the resolver, before any constructor */

static int chosen(void)
{
	return 17;
}

static int (*resolve(void))(void)
{
	early = malloc(40);
	memset(early, 3, 40);
	return chosen;
}

int by_ifunc(void) __attribute__((ifunc("resolve")));

/* leaves nothing on the stack: the frame above malloc is its caller's */
__attribute__((noipa, optimize("O2"))) static void *tail(size_t n)
{
	return malloc(n);
}

SITE_FN static void *calls_the_tail(size_t n)
{
	return led_keep(tail(n));
}

SITE_FN static void *by_pointer(size_t n)
{
	void *(*volatile f)(size_t) = malloc;

	return led_keep(f(n));
}

SITE_FN static void alloc_below_signal(int sig)
{
	void *p = led_keep(malloc((size_t)sig));

	led_alloc(L_alloc_below_signal, (size_t)sig);
	led_free(L_alloc_below_signal, (size_t)sig);
	free(p);
}

int main(void)
{
	printf("ifunc %d early %d\n", by_ifunc(), early[39]);
	early = realloc(early, 100);
	printf("still %d\n", early[39]);
	free(early);
	signal(SIGUSR1, alloc_below_signal);
	for (size_t n = 0; n < 500; n++) {
		void *p = calls_the_tail(n);

		led_alloc(L_calls_the_tail, n);
		if (n % 2) {
			led_free(L_calls_the_tail, n);
			free(p);
		}
		p = by_pointer(n);
		led_alloc(L_by_pointer, n);
		led_free(L_by_pointer, n);
		free(p);
		raise(SIGUSR1);
	}
	fflush(stdout);
	led_print(1);
	return 0;
}

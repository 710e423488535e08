/* sandboxed.c - three threads under a filter that kills for anything but malloc's own calls: alive and exact. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>

#define SITES(X) X(alloc_sandboxed)
#include "../lib/ledger.h"
#include "../lib/many_stacks.h"
#include "../lib/sandbox.h"

enum { THREADS = 2, BITS = 11 };

static pthread_barrier_t started, closed; /* closed: the filter is there */

SITE_FN static void alloc_sandboxed(size_t size_bytes)
{
	void *p = led_keep(malloc(size_bytes));

	led_check(p, "malloc");
	led_alloc(L_alloc_sandboxed, size_bytes);
	if (size_bytes % 4) {
		led_free(L_alloc_sandboxed, size_bytes);
		free(p);
	}
}

static void *work(void *arg)
{
	/* a thread's first malloc makes an arena and asks for the CPUs */
	alloc_sandboxed(1);
	pthread_barrier_wait(&started);
	if (!arg)
		led_check(sandbox_enter(), "seccomp");
	pthread_barrier_wait(&closed);
	for (unsigned path = 0; path < 1u << BITS; path++)
		many_stacks_call(path, BITS, alloc_sandboxed);
	for (size_t n = 0; n < 100000; n++)
		alloc_sandboxed(n % 3000);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int pid = (int)getpid();

	pthread_barrier_init(&started, NULL, THREADS + 1);
	pthread_barrier_init(&closed, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		led_check(!pthread_create(&threads[i], NULL, work, &closed), "pthread_create");
	work(NULL); /* the one that closes the door */
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	led_print_pid(1, pid);
	for (int i = 0; i < LED_SITES; i++)
		led_print_site(1, &led[i]);
	exit(0); /* through all destructors */
}

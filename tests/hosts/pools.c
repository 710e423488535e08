/* pools.c - resources of its own in three pools, from threads, handlers and a child: all are recorded, none is in the heap's totals. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "seep.h"

#define SITES(X) \
	X(take_buffer) \
	X(grow_buffer) X(take_handle) X(take_in_handler) X(take_arena) X(heap)
#include "../lib/ledger.h"

enum { THREADS = 4, ROUNDS = 3000, KEPT = 64 };

static const void *handle_of(uint64_t n)
{
	return (const void *)(uintptr_t)n;
}

SITE_FN static void take_buffer(uint64_t n, size_t size_bytes)
{
	seep_alloc("buffers", handle_of(n), size_bytes);
	led_alloc(L_take_buffer, size_bytes);
}

SITE_FN static void grow_buffer(uint64_t n, size_t was_bytes, size_t size_bytes)
{
	led_free(L_take_buffer, was_bytes);
	seep_realloc("buffers", handle_of(n), handle_of(n + 1000000), size_bytes);
	led_alloc(L_grow_buffer, size_bytes);
}

/* the same numbers as the buffers have: another pool, another thing */
SITE_FN static void take_handle(uint64_t n)
{
	seep_alloc("handles", handle_of(n), 1);
	led_alloc(L_take_handle, 1);
}

SITE_FN static void take_arena(uint64_t n, size_t size_bytes)
{
	seep_alloc("arena", handle_of(n), size_bytes);
	led_alloc(L_take_arena, size_bytes);
}

SITE_FN static void heap(size_t size_bytes)
{
	void *p = led_keep(malloc(size_bytes));

	led_alloc(L_heap, size_bytes);
	if (size_bytes % 2) {
		led_free(L_heap, size_bytes);
		free(p);
	}
}

SITE_FN static void take_in_handler(uint64_t n)
{
	seep_alloc("handled", handle_of(n), 7);
	led_alloc(L_take_in_handler, 7);
	if (n % 4) {
		led_free(L_take_in_handler, 7);
		seep_free("handled", handle_of(n));
	}
}

static void on_signal(int signal)
{
	static uint64_t numbers;

	(void)signal;
	take_in_handler(1 + __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED));
}

static void *work(void *arg)
{
	uint64_t base = (uint64_t)(uintptr_t)arg * 100000 + 1;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		uint64_t n = base + i % KEPT, size = 100 + i % KEPT;

		take_buffer(n, size);
		take_handle(n);
		heap(i % 100);
		led_free(L_take_handle, 1);
		seep_free("handles", handle_of(n));
		if (i % 3 == 0) {
			grow_buffer(n, size, 2 * size);
			led_free(L_grow_buffer, 2 * size);
			seep_free("buffers", handle_of(n + 1000000));
		} else if (i + KEPT < ROUNDS) {
			led_free(L_take_buffer, size);
			seep_free("buffers", handle_of(n));
		}
		if (i % 100 == 0)
			pthread_kill(pthread_self(), SIGUSR1);
	}
	return NULL;
}

/* the child frees what it inherited, takes its own, and prints its books */
static void be_child(void)
{
	led_reset();
	for (uint64_t n = 1; n <= 10; n++)
		seep_free("inherited", handle_of(n));
	for (uint64_t n = 1; n <= 100; n++)
		take_handle(n);
	heap(10);
	led_print(1);
	exit(0);
}

/* any argument: it stays for a moment, so that a recorder sees it */
int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	struct sigaction action = {.sa_handler = on_signal};
	int status;

	sigaction(SIGUSR1, &action, NULL);
	for (uint64_t i = 0; i < THREADS; i++)
		led_check(!pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i),
		    "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint64_t n = 1; n <= 20000; n++)
		take_arena(n, 10);
	led[L_take_arena].frees = led[L_take_arena].allocations;
	led[L_take_arena].freed_bytes = led[L_take_arena].allocated_bytes;
	seep_free_all("arena");
	take_arena(3, 5);
	seep_alloc("arena", NULL, 99); /* no handle: nothing */
	seep_free("arena", NULL);
	seep_free("arena", handle_of(4)); /* unknown */
	seep_alloc("inherited", handle_of(0), 1);
	for (uint64_t n = 1; n <= 10; n++)
		seep_alloc("inherited", handle_of(n), 3);
	fflush(stdout);
	if (fork() == 0)
		be_child();
	led_check(wait(&status) > 0 && status == 0, "the child");
	led_print(1);
	(void)argv;
	if (argc > 1)
		usleep(300000);
	return 0;
}

/* peak_threads.c - eight threads climb, churn and rest together: the peak is right within 0.5 % of the total. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SITES(X) X(climb) X(churn)
#include "../lib/ledger.h"

enum { THREADS = 8, STEPS = 4000, CHURN = 20000, CHURN_BYTES = 400 };

static pthread_barrier_t barrier;
static _Atomic uint64_t total, highest;

SITE_FN static void *climb(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *churn(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

static void rise(size_t size_bytes)
{
	uint64_t now = atomic_fetch_add(&total, size_bytes) + size_bytes;
	uint64_t seen = highest;

	while (now > seen && !atomic_compare_exchange_weak(&highest, &seen, now))
		;
}

static void *work(void *arg)
{
	static void *held[THREADS][STEPS];
	uintptr_t me = (uintptr_t)arg;

	for (size_t i = 0; i < STEPS; i++) {
		held[me][i] = climb(1000 + i % 100);
		led_alloc(L_climb, 1000 + i % 100);
		rise(1000 + i % 100);
	}
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < CHURN; i++) { /* at the top, never at rest */
		void *p = churn(CHURN_BYTES);

		led_alloc(L_churn, CHURN_BYTES);
		rise(CHURN_BYTES);
		led_free(L_churn, CHURN_BYTES);
		free(p);
		total -= CHURN_BYTES;
	}
	pthread_barrier_wait(&barrier);
	for (size_t i = 0; i < STEPS; i++) {
		led_free(L_climb, 1000 + i % 100);
		free(held[me][i]);
		total -= 1000 + i % 100;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	char line[128];
	uint64_t climbed = 0;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		led_check(!pthread_create(&threads[i], NULL, work, (void *)i), "pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < STEPS; i++)
		climbed += THREADS * (1000 + i % 100);
	led_check(total == 0, "books");
	led_print(1);
	snprintf(line, sizeof(line), "PEAK TOTAL %llu\nPEAK climb %llu\nPEAK churn %llu\n",
	    (unsigned long long)highest, (unsigned long long)climbed,
	    (unsigned long long)(highest - climbed));
	led_say(1, line);
	return 0;
}

/* cancelled_threads_clean_up.c - threads cancelled at a cancellation point free in their cleanup handlers; then main ends by pthread_exit. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T40 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#define SITES(X) X(alloc_to_clean) X(alloc_after_main)
#include "../../lib/ledger.h"

enum { THREADS = 60 };

static sem_t ready;
static pthread_t first;

SITE_FN static void *alloc_to_clean(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *alloc_after_main(size_t n)
{
	return led_keep(malloc(n));
}

static void clean(void *p)
{
	led_free(L_alloc_to_clean, 90);
	free(p);
}

static void *wait_for_it(void *arg)
{
	void *p = alloc_to_clean(90), *q = alloc_to_clean(90);

	led_alloc(L_alloc_to_clean, 90);
	led_alloc(L_alloc_to_clean, 90);
	pthread_cleanup_push(clean, p);
	pthread_cleanup_push(clean, q);
	sem_post(&ready);
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	pthread_cleanup_pop(1);
	return arg;
}

/* main is gone by then; it ends the process */
static void *outlive(void *arg)
{
	pthread_join(first, NULL);
	for (size_t n = 0; n < 500; n++) {
		void *p = alloc_after_main(n);

		led_alloc(L_alloc_after_main, n);
		if (n % 2) {
			led_free(L_alloc_after_main, n);
			free(p);
		}
	}
	led_print(1);
	return arg;
}

int main(void)
{
	pthread_t t[THREADS], last;
	void *how;
	int cancelled = 0;

	sem_init(&ready, 0, 0);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, wait_for_it, NULL);
	for (int i = 0; i < THREADS; i++)
		sem_wait(&ready);
	for (int i = 0; i < THREADS; i++) {
		pthread_cancel(t[i]);
		pthread_join(t[i], &how);
		cancelled += how == PTHREAD_CANCELED;
	}
	printf("cancelled %d\n", cancelled);
	fflush(stdout);
	first = pthread_self();
	pthread_create(&last, NULL, outlive, NULL);
	pthread_exit(NULL);
}

/* storm.c - eight threads allocate while a thousand signals or calls ask for snapshots: exact, and every snapshot sound. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "seep.h"

#define SITES(X) X(alloc_churn) X(alloc_kept)
#include "../lib/ledger.h"

/*
 * storm signal N [MOST]   N times SIGUSR2, to the process
 * storm call N [MOST]     N times seep_snapshot, from three threads at once
 *
 * The eight threads go on until the last snapshot, which may take long on a busy
 * machine, or until each of them has made MOST pairs.
 */
enum { THREADS = 8, KEPT = 2000 };

static volatile int over;
static int most = INT_MAX;

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		void *p = led_keep(malloc(size_bytes)); \
		led_alloc(L_##name, size_bytes); \
		return p; \
	}
ALLOC_FN(alloc_churn)
ALLOC_FN(alloc_kept)

static void *churn(void *arg)
{
	uint64_t random = (uint64_t)(uintptr_t)arg + 1;

	for (int i = 0; i < most && (i < KEPT || !over); i++) {
		size_t size_bytes = led_random(&random) % 500;
		void *p = alloc_churn(size_bytes);

		if (i < KEPT)
			(void)alloc_kept(size_bytes);
		led_free(L_alloc_churn, size_bytes);
		free(p);
	}
	return NULL;
}

static void *call(void *arg)
{
	for (int i = *(int *)arg / 3; i > 0; i--) {
		errno = 4711;
		(void)seep_snapshot("storm");
		led_check(errno == 4711, "errno has changed");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t threads[THREADS], callers[3];

	most = argc > 3 ? atoi(argv[3]) : most;
	for (uintptr_t i = 0; i < THREADS; i++)
		led_check(!pthread_create(&threads[i], NULL, churn, (void *)i), "pthread_create");
	if (argc > 1 && !strcmp(argv[1], "call")) {
		for (int i = 0; i < 3; i++)
			led_check(!pthread_create(&callers[i], NULL, call, &n), "pthread_create");
		for (int i = 0; i < 3; i++)
			pthread_join(callers[i], NULL);
	} else {
		for (int i = 0; i < n; i++) {
			kill(getpid(), SIGUSR2);
			usleep(200);
		}
	}
	over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	led_print(1);
	return 0;
}

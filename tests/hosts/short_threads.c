/* short_threads.c - many short threads: frees after the owner's death and in TSD destructors are credited to their site. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SITES(X) X(alloc_heirloom) X(alloc_tsd) X(alloc_late) X(alloc_leak)
#include "../lib/ledger.h"

/* short_threads THREADS: eight at a time */
enum { ABREAST = 8, DESTRUCTOR_ROUNDS = 4 };

static pthread_key_t key;
static _Atomic(void *) heirloom[ABREAST];

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(alloc_heirloom)
ALLOC_FN(alloc_tsd)
ALLOC_FN(alloc_late)
ALLOC_FN(alloc_leak)

/* each round frees one block and leaves another for the next round */
static void destroy(void *p)
{
	uint32_t *round = p;

	if (*round == 0)
		led_free(L_alloc_tsd, 32);
	else
		led_free(L_alloc_late, 48);
	uint32_t next = *round + 1;

	free(p);
	if (next > DESTRUCTOR_ROUNDS - 1)
		return;
	round = alloc_late(48);
	led_alloc(L_alloc_late, 48);
	*round = next;
	pthread_setspecific(key, round);
}

static void *live_shortly(void *arg)
{
	uintptr_t i = (uintptr_t)arg;
	uint32_t *round = alloc_tsd(32);

	led_alloc(L_alloc_tsd, 32);
	*round = 0;
	pthread_setspecific(key, round);
	void *p = alloc_heirloom(100 + i % 50);

	led_alloc(L_alloc_heirloom, 100 + i % 50);
	*(size_t *)p = 100 + i % 50;
	p = atomic_exchange(&heirloom[i % ABREAST], p);
	if (p) { /* a dead thread's */
		led_free(L_alloc_heirloom, *(size_t *)p);
		free(p);
	}
	if (i % 100 == 0) {
		led_keep(alloc_leak(i % 1000));
		led_alloc(L_alloc_leak, i % 1000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uintptr_t threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
	pthread_t abreast[ABREAST];

	led_check(!pthread_key_create(&key, destroy), "pthread_key_create");
	for (uintptr_t i = 0; i < threads; i += ABREAST) {
		for (uintptr_t k = 0; k < ABREAST; k++)
			led_check(!pthread_create(&abreast[k], NULL, live_shortly, (void *)(i + k)),
			    "pthread_create");
		for (int k = 0; k < ABREAST; k++)
			pthread_join(abreast[k], NULL);
	}
	led_print(1);
	return 0;
}

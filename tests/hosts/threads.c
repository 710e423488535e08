/* threads.c - eight threads free and realloc each other's blocks through a ring: every site stays exact. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SITES(X) X(alloc_even) X(alloc_odd) X(resize_even) X(resize_odd) X(alloc_own)
#include "../lib/ledger.h"

/*
 * threads ROUNDS [PAIRS]: each of four threads (or PAIRS) allocates, each of as
 * many reallocates
 */
enum { PAIRS_MAX = 64, RING = 256 };

/* a block tells its own site and size: whoever holds it owns the books */
struct block {
	uint64_t size_bytes;
	uint32_t site;
	uint32_t mark;
};

static _Atomic(struct block *) ring[RING];
static long rounds = 200000;

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
#define RESIZE_FN(name) \
	SITE_FN static void *name(void *p, size_t size_bytes) \
	{ \
		return led_keep(realloc(p, size_bytes)); \
	}
ALLOC_FN(alloc_even)
ALLOC_FN(alloc_odd)
ALLOC_FN(alloc_own)
RESIZE_FN(resize_even)
RESIZE_FN(resize_odd)

static void own(struct block *b, int site, size_t size_bytes)
{
	led_check(b, "out of memory");
	led_alloc(site, size_bytes);
	*b = (struct block){size_bytes, (uint32_t)site, 0x5eef};
}

static void drop(struct block *b)
{
	if (!b)
		return;
	led_check(b->mark == 0x5eef, "block damaged");
	led_free((int)b->site, b->size_bytes);
	free(b);
}

static void *allocate(void *arg)
{
	uint64_t seed = 1234567 + (uint64_t)(uintptr_t)arg;
	int site = (uintptr_t)arg % 2 ? L_alloc_odd : L_alloc_even;

	for (long i = 0; i < rounds; i++) {
		size_t n = sizeof(struct block) + led_random(&seed) % 600;
		struct block *b = (site == L_alloc_odd ? alloc_odd : alloc_even)(n);

		own(b, site, n);
		drop(atomic_exchange(&ring[led_random(&seed) % RING], b));
		b = alloc_own(n / 2 + sizeof(*b)); /* stays in this thread */
		own(b, L_alloc_own, n / 2 + sizeof(*b));
		drop(b);
	}
	return NULL;
}

static void *reallocate(void *arg)
{
	uint64_t seed = 7654321 + (uint64_t)(uintptr_t)arg;
	int site = (uintptr_t)arg % 2 ? L_resize_odd : L_resize_even;

	for (long i = 0; i < rounds; i++) {
		_Atomic(struct block *) *slot = &ring[led_random(&seed) % RING];
		size_t n = sizeof(struct block) + led_random(&seed) % 3000;
		struct block *b = atomic_exchange(slot, NULL);

		if (b) {
			led_check(b->mark == 0x5eef, "block damaged");
			led_free((int)b->site, b->size_bytes);
		}
		b = (site == L_resize_odd ? resize_odd : resize_even)(b, n);
		own(b, site, n);
		drop(atomic_exchange(slot, b));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2 * PAIRS_MAX];
	int pairs = argc > 2 ? atoi(argv[2]) : 4;

	if (argc > 1)
		rounds = atol(argv[1]);
	led_check(pairs > 0 && pairs <= PAIRS_MAX, "too many threads");
	for (uintptr_t i = 0; i < (uintptr_t)pairs; i++) {
		led_check(!pthread_create(&threads[2 * i], NULL, allocate, (void *)i) &&
		        !pthread_create(&threads[2 * i + 1], NULL, reallocate, (void *)i),
		    "pthread_create");
	}
	for (int i = 0; i < 2 * pairs; i++)
		pthread_join(threads[i], NULL);
	led_print(1); /* what lies in the ring is live */
	return 0;
}

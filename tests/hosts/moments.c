/* moments.c - phases with a quiet time behind each, and what the program itself holds then. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>

#define SITES(X) X(left) X(right) X(resized) X(dummy) X(marker)
#include "../lib/ledger.h"

/*
 * moments PHASES: each phase allocates, frees and resizes, then prints
 * "PHASE number site blocks bytes" for each site, and rests for 100 ms. Then it
 * makes 200 allocations, so that the clock of the log goes on, and one of
 * MARKER + phase bytes. So at 50 ms before the marker nothing but that lived.
 */
enum { SLOTS = 64, MARKER = 7777000, QUIET_MS = 100 };

static struct {
	void *block;
	size_t size_bytes;
	int site;
} slots[SLOTS];

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(left)
ALLOC_FN(right)
ALLOC_FN(dummy)
ALLOC_FN(marker)

SITE_FN static void *resized(void *p, size_t size_bytes)
{
	return led_keep(realloc(p, size_bytes));
}

static void put(int i, void *p, int site, size_t size_bytes)
{
	led_check(p, "out of memory");
	led_alloc(site, size_bytes);
	slots[i].block = p;
	slots[i].size_bytes = size_bytes;
	slots[i].site = site;
}

static void drop(int i)
{
	if (!slots[i].block)
		return;
	led_free(slots[i].site, slots[i].size_bytes);
	free(slots[i].block);
	slots[i].block = NULL;
}

static void work(uint64_t *seed)
{
	for (int n = 0; n < 500; n++) {
		int i = (int)(led_random(seed) % SLOTS);
		size_t size_bytes = 1 + led_random(seed) % 2000;

		if (slots[i].block && n % 3 == 0) {
			led_free(slots[i].site, slots[i].size_bytes);
			put(i, resized(slots[i].block, size_bytes), L_resized, size_bytes);
			continue;
		}
		drop(i);
		if (n % 2)
			put(i, left(size_bytes), L_left, size_bytes);
		else
			put(i, right(size_bytes), L_right, size_bytes);
	}
}

static void rest(void)
{
	struct timespec t = {0, QUIET_MS * 1000000L};

	while (nanosleep(&t, &t) < 0)
		;
	for (int i = 0; i < 200; i++) {
		void *p = dummy(16);

		led_check(p, "out of memory");
		led_alloc(L_dummy, 16);
		led_free(L_dummy, 16);
		free(p);
	}
}

int main(int argc, char **argv)
{
	int phases = argc > 1 ? atoi(argv[1]) : 4;
	uint64_t seed = 20;

	setvbuf(stdout, NULL, _IONBF, 0); /* no buffer on the heap */
	for (int k = 0; k < phases; k++) {
		void *p;

		work(&seed);
		for (int i = 0; i < LED_SITES; i++)
			printf("PHASE %d %s %llu %llu\n", k, led[i].name,
			    (unsigned long long)(led[i].allocations - led[i].frees),
			    (unsigned long long)(led[i].allocated_bytes - led[i].freed_bytes));
		rest();
		p = marker((size_t)(MARKER + k));
		led_check(p, "out of memory");
		led_alloc(L_marker, (size_t)(MARKER + k));
		led_free(L_marker, (size_t)(MARKER + k));
		free(p);
	}
	led_print(1);
	return 0;
}

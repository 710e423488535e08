/* indexed.c - most blocks are freed soon, a few live on: a log whose index is small. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>

#define SITES(X) X(soon) X(later) X(moved)
#include "../lib/ledger.h"

/*
 * indexed EVENTS PARTS PAUSE_MS: in each part so many allocations, nearly all
 * freed at once; every hundredth replaces one of 50 blocks, some of which are
 * resized; then a pause, so that a recorder writes what it has.
 */
enum { SLOTS = 50 };

static struct {
	void *block;
	size_t size_bytes;
	int site;
} slots[SLOTS];

SITE_FN static void *soon(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *later(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *moved(void *p, size_t size_bytes)
{
	return led_keep(realloc(p, size_bytes));
}

static void turn(int i, size_t size_bytes, bool resizes)
{
	int site = resizes ? L_moved : L_later;

	if (slots[i].block)
		led_free(slots[i].site, slots[i].size_bytes);
	if (!resizes)
		free(slots[i].block);
	slots[i].block = resizes ? moved(slots[i].block, size_bytes) : later(size_bytes);
	led_check(slots[i].block, "out of memory");
	led_alloc(site, size_bytes);
	slots[i].size_bytes = size_bytes;
	slots[i].site = site;
}

int main(int argc, char **argv)
{
	long events = argc > 1 ? atol(argv[1]) : 20000;
	int parts = argc > 2 ? atoi(argv[2]) : 3;
	long pause_ms = argc > 3 ? atol(argv[3]) : 100;
	uint64_t seed = 5;

	for (int part = 0; part < parts; part++) {
		struct timespec t = {pause_ms / 1000, pause_ms % 1000 * 1000000};

		for (long n = 0; n < events; n++) {
			size_t size_bytes = 1 + led_random(&seed) % 500;
			void *p = soon(size_bytes);

			led_check(p, "out of memory");
			led_alloc(L_soon, size_bytes);
			led_free(L_soon, size_bytes);
			free(p);
			if (n % 100 == 0)
				turn((int)(led_random(&seed) % SLOTS), size_bytes, n % 300 == 0);
		}
		while (nanosleep(&t, &t) < 0)
			;
	}
	led_print(1);
	return 0;
}

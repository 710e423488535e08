/* peak.c - one thread, five call paths: totals, every site and its share of the peak must be exact. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#define SITES(X) X(alloc_tiny) X(alloc_text) X(alloc_table) X(alloc_large) X(grow_block)
#include "../lib/ledger.h"

enum { SLOTS = 3000, EVENTS = 200000, HIGH_EVENTS = 120000 };

struct block {
	char *p;
	size_t size_bytes;
	int site;
};

static struct block blocks[SLOTS];
static uint64_t seed = 88172645463325252u;

#define ALLOC_FN(name) \
	SITE_FN static void *name(size_t size_bytes) \
	{ \
		return led_keep(malloc(size_bytes)); \
	}
ALLOC_FN(alloc_tiny)
ALLOC_FN(alloc_text)
ALLOC_FN(alloc_table)
ALLOC_FN(alloc_large)

SITE_FN static void *grow_block(void *p, size_t size_bytes)
{
	return led_keep(realloc(p, size_bytes));
}

static void fill(struct block *b)
{
	static void *(*const how[])(size_t) = {alloc_tiny, alloc_text, alloc_table, alloc_large};
	static const size_t limit[] = {24, 300, 5000, 400000};

	b->site = (int)(led_random(&seed) % 4);
	b->size_bytes = 1 + led_random(&seed) % limit[b->site];
	b->p = how[b->site](b->size_bytes);
	led_check(b->p, "malloc");
	led_alloc(b->site, b->size_bytes);
}

static void drop(struct block *b)
{
	led_free(b->site, b->size_bytes);
	free(b->p);
	b->p = NULL;
}

static void resize(struct block *b)
{
	size_t size_bytes = 1 + led_random(&seed) % 6000;

	b->p = grow_block(b->p, size_bytes);
	led_check(b->p, "realloc");
	led_free(b->site, b->size_bytes);
	b->site = L_grow_block;
	b->size_bytes = size_bytes;
	led_alloc(b->site, b->size_bytes);
}

int main(void)
{
	led_complete = true;
	for (int i = 0; i < EVENTS; i++) {
		/* more room in the first part: the peak is long past at exit */
		uint64_t room = i < HIGH_EVENTS ? SLOTS : SLOTS / 5;
		struct block *b = &blocks[led_random(&seed) % SLOTS];

		if (!b->p && (uint64_t)(b - blocks) < room)
			fill(b);
		else if (b->p && led_random(&seed) % 3 == 0)
			resize(b);
		else if (b->p)
			drop(b);
	}
	led_print(1);
	return 0;
}

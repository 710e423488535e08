/* million.c - a million live blocks at once, then every second freed: all of them must be known. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#define SITES(X) X(alloc_many) X(alloc_wide)
#include "../lib/ledger.h"

enum { BLOCKS = 1000000 };

static void *blocks[BLOCKS];

SITE_FN static void *alloc_many(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *alloc_wide(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

static size_t size_of(int i)
{
	return (size_t)(i % 150);
}

static int site_of(int i)
{
	return i % 7 ? L_alloc_many : L_alloc_wide;
}

int main(void)
{
	led_complete = true;
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = (i % 7 ? alloc_many : alloc_wide)(size_of(i));
		led_check(blocks[i], "malloc");
		led_alloc(site_of(i), size_of(i));
	}
	for (int i = 0; i < BLOCKS; i += 2) {
		led_free(site_of(i), size_of(i));
		free(blocks[i]);
	}
	led_print(1);
	return 0;
}

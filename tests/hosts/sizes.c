/* sizes.c - sizes 0 to 200, around 64, powers of two and 5 GiB: every byte must be found. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin */
#include <stdlib.h>

#define SITES(X) X(alloc_small) X(alloc_power) X(alloc_huge) X(clear_small)
#include "../lib/ledger.h"

enum { SMALL = 201, ROUNDS = 40, POWERS = 25 };
#define HUGE_BYTES ((size_t)5 << 30)

static void *small[ROUNDS][SMALL];
static void *cleared[SMALL];
static void *power[POWERS][3];

SITE_FN static void *alloc_small(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *alloc_power(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *alloc_huge(size_t size_bytes)
{
	return led_keep(malloc(size_bytes));
}

SITE_FN static void *clear_small(size_t size_bytes)
{
	return led_keep(calloc(1, size_bytes));
}

int main(void)
{
	led_complete = true;
	for (int r = 0; r < ROUNDS; r++) {
		for (size_t n = 0; n < SMALL; n++) {
			small[r][n] = alloc_small(n);
			led_check(small[r][n], "malloc");
			led_alloc(L_alloc_small, n);
		}
		/* two of three go again, so that cells are used anew */
		for (size_t n = 0; n < SMALL; n++) {
			if ((n + (size_t)r) % 3 == 0)
				continue;
			led_free(L_alloc_small, n);
			free(small[r][n]);
		}
	}
	for (size_t n = 0; n < SMALL; n++) {
		cleared[n] = clear_small(n);
		led_alloc(L_clear_small, n);
	}
	for (int bit = 0; bit < POWERS; bit++) {
		for (int d = 0; d < 3; d++) {
			size_t n = ((size_t)1 << bit) + (size_t)d - 1;

			power[bit][d] = alloc_power(n);
			led_alloc(L_alloc_power, n);
		}
	}
	for (int bit = 0; bit < POWERS; bit += 2) {
		led_free(L_alloc_power, ((size_t)1 << bit) - 1);
		free(power[bit][0]);
	}
	void *huge[2] = {alloc_huge(HUGE_BYTES), alloc_huge(HUGE_BYTES + 77)};

	if (!huge[0] || !huge[1]) {
		led_say(1, "SKIP no room for 5 GiB\n");
		return 0;
	}
	led_alloc(L_alloc_huge, HUGE_BYTES);
	led_alloc(L_alloc_huge, HUGE_BYTES + 77);
	led_free(L_alloc_huge, HUGE_BYTES);
	free(huge[0]);
	led_print(1);
	return 0;
}

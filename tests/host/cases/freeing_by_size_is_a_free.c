/* freeing_by_size_is_a_free.c - C23's free_sized and free_aligned_sized free blocks and are counted, whether the libc has them or not. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T13 */
/* flags: -fno-builtin */
#include <stdlib.h>

#define SITES(X) X(alloc_sized) X(alloc_aligned)
#include "../../lib/ledger.h"

/* weak: a libc before C23 has none; then a program would use free */
extern void free_sized(void *, size_t) __attribute__((weak));
extern void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));

SITE_FN static void *alloc_sized(size_t n)
{
	return led_keep(malloc(n));
}

SITE_FN static void *alloc_aligned(size_t n)
{
	return led_keep(aligned_alloc(64, n));
}

int main(void)
{
	led_complete = true;
	for (size_t n = 1; n < 2000; n++) {
		void *p = alloc_sized(n);

		led_alloc(L_alloc_sized, n);
		led_free(L_alloc_sized, n);
		if (free_sized)
			free_sized(p, n);
		else
			free(p);
		p = alloc_aligned(64 * n);
		led_alloc(L_alloc_aligned, 64 * n);
		led_free(L_alloc_aligned, 64 * n);
		if (free_aligned_sized)
			free_aligned_sized(p, 64, 64 * n);
		else
			free(p);
	}
	if (free_sized)
		free_sized(NULL, 10);
	led_print(1);
	return 0;
}

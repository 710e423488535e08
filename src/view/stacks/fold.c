/* fold.c - folds recursion in a stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/fold.h"

#include <stdbool.h>

static bool same(const struct frame *frames, const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (frames[a[i]].label != frames[b[i]].label)
			return false;
	return true;
}

/* How often the first `period` frames repeat in sequence. */
static size_t times(const struct frame *frames, const uint32_t *at, size_t count, size_t period)
{
	size_t n = 1;

	while ((n + 1) * period <= count && same(frames, at, at + n * period, period))
		n++;
	return n;
}

size_t fold_stack(const struct frame *frames, uint32_t *numbers, uint16_t *repeats, size_t count)
{
	size_t kept = 0, at = 0;

	while (at < count) {
		size_t period = 1, n = 1;

		for (size_t p = 1; p <= FOLD_PERIOD && n == 1; p++) {
			n = times(frames, numbers + at, count - at, p);
			period = p;
		}
		if (n == 1)
			period = 1;
		for (size_t i = 0; i < period; i++) {
			numbers[kept] = numbers[at + i];
			repeats[kept++] = i > 0 ? 1 : n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
		}
		at += n * period;
	}
	return kept;
}

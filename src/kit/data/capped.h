/* capped.h - sums and differences of untrusted numbers that do not wrap. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CAPPED_H
#define SEEP_CAPPED_H

#include "base/std.h"

/* a + b, or the largest number if the sum does not fit. */
static inline uint64_t capped_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static inline uint32_t capped_sum_32(uint32_t a, uint32_t b)
{
	return a + b < a ? UINT32_MAX : a + b;
}

/*
 * The same with signs: if the sum does not fit, the largest or smallest number.
 */
static inline int64_t capped_sum_signed(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/*
 * a - b, or 0. The counters of a running process are read one after the other,
 * so b may be the larger one.
 */
static inline uint64_t capped_difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* now - before with its sign, limited to INT64_MAX in both directions. */
static inline int64_t capped_change(uint64_t now, uint64_t before)
{
	uint64_t n = now > before ? now - before : before - now;

	if (n > INT64_MAX)
		n = INT64_MAX;
	return now > before ? (int64_t)n : -(int64_t)n;
}

#endif

/* capped.h - sums of untrusted figures that stay at the largest number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UTIL_CAPPED_H
#define SEEP_UTIL_CAPPED_H

#include <stdint.h>

static inline uint64_t
capped_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static inline uint32_t
capped_sum_32(uint32_t a, uint32_t b)
{
	return a + b < a ? UINT32_MAX : a + b;
}

#endif

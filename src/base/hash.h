/* hash.h - mixing of words into hash values; no state, no memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HASH_H
#define SEEP_HASH_H

#include <stdint.h>

#include "base/attr.h"

#define HASH_GOLDEN UINT64_C(0x9E3779B97F4A7C15)

/* Good bits come out at the top; take them with a shift. */
SEEP_INLINE uint64_t hash_word(uint64_t x)
{
	return x * HASH_GOLDEN;
}

/* All bits are good. */
SEEP_INLINE uint64_t hash_mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * HASH_GOLDEN;
	h ^= h >> 32;
	return h * UINT64_C(0xD6E8FEB86659FD93);
}

/*
 * The part that word number `at` has in the sum that is the hash of a list.
 * Unlike those of hash_mix(), the products of a list do not wait for each other.
 */
SEEP_INLINE uint64_t hash_part(uint64_t x, uint32_t at)
{
	uint64_t h = (x ^ (at + 1) * HASH_GOLDEN) * UINT64_C(0xD6E8FEB86659FD93);

	return h ^ h >> 32;
}

SEEP_INLINE uint64_t hash_finish(uint64_t h)
{
	return h ^ (h >> 29);
}

#endif

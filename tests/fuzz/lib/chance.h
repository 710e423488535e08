/* chance.h - numbers that look random and come again with the same seed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUZZ_CHANCE_H
#define SEEP_FUZZ_CHANCE_H

#include <stddef.h>
#include <stdint.h>

struct chance {
	uint64_t state;
};

/* splitmix64 */
static inline uint64_t chance_next(struct chance *c)
{
	uint64_t x = c->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Below n; 0 where n is 0. */
static inline size_t chance_below(struct chance *c, size_t n)
{
	return n ? (size_t)(chance_next(c) % n) : 0;
}

#endif

/* levels.h - hash tables that grow by levels: how a level is made and shown. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEVELS_H
#define SEEP_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/*
 * A table is an array of pointers to levels, each several times as large as the
 * one before. A level is never moved, rehashed or freed, so no thread ever
 * waits. A thread that needs one more level makes it and publishes it by one
 * CAS. If two threads do so at once, the second takes the first one's level,
 * and its own pages are wasted, which is rare and bounded by the number of
 * levels.
 *
 * Each table (index.c, rules.c, live.c, user_pools.c, ignored.c) decides what a slot is and how
 * it is claimed. Its level begins with a struct level.
 */
struct level {
	uint64_t bits; /* it has 1 << bits slots */
};

struct levels_shape {
	uint32_t count; /* levels at most */
	uint32_t first_bits, grow_bits;
	size_t head_bytes, slot_bytes;
};

/* The n-th slot to look at: the upper bits of the hash say where the first one is. */
SEEP_INLINE uint64_t levels_place(const struct level *l, uint64_t hash, uint32_t n)
{
	return ((hash >> (64 - l->bits)) + n) & ((UINT64_C(1) << l->bits) - 1);
}

/* Level i; makes it if there is none. NULL: no memory. */
struct level *levels_open(struct level **levels, const struct levels_shape *s, uint32_t i);

/*
 * Makes the level after `from`, which is full, the newest one, unless there is
 * a newer one already. False: no memory, or no more levels.
 */
bool levels_grow(
    struct level **levels, uint32_t *newest, const struct levels_shape *s, uint32_t from);

#endif

/* sites_index.h - hash -> number of a record; lock-free, grows by levels. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SITES_INDEX_H
#define SEEP_SITES_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/levels.h"

/*
 * The records lie in the segment, the index in private memory, in levels
 * (levels.h). Inserts go into the newest level. Each of them also moves 32 slots
 * there from the level before, so a look-up soon finds all entries in one level:
 * it must not have to read a cache line of each, because most of these are not
 * in the CPU's caches. A moved entry also stays where it was, so a look-up by
 * another thread never misses it. If a thread ends, or leaves by longjmp, while
 * it moves some, look-ups read that level for ever.
 *
 * Slot = upper 41 bits of the hash | number (23 bits, never 0). Its place is
 * given by the highest bits, so it can be moved without its record.
 */
enum {
	SITES_INDEX_NUMBER_BITS = 23,
	SITES_INDEX_FIRST_BITS = 9,
	SITES_INDEX_GROW_BITS = 2,
	SITES_INDEX_LEVELS = 8,
	SITES_INDEX_PROBES = 128,
	SITES_INDEX_MOVED = 32, /* slots, with each insertion */
};

struct sites_index_level {
	struct level head;
	uint64_t used;
	/* slots of which a thread has begun, or ended, to move them */
	uint64_t begun, moved;
	uint64_t slots[];
};

struct index {
	struct level *levels[SITES_INDEX_LEVELS];
	uint32_t newest;
	uint32_t oldest; /* of those that look-ups read */
};

/* Makes it empty; a forked child calls it again. False: no memory. */
bool sites_index_init(struct index *ix);

/*
 * Enters (hash, number) into the newest level. False: no memory to grow. Two
 * threads may enter one record under two numbers. Both are valid, and the
 * reader merges them by content.
 */
bool sites_index_insert(struct index *ix, uint64_t hash, uint32_t number);

typedef bool sites_index_same_fn(const void *key, uint32_t number);

SEEP_INLINE struct sites_index_level *sites_index_level(struct index *ix, uint32_t i)
{
	return (struct sites_index_level *)LOAD_ACQUIRE(&ix->levels[i]);
}

/* Where to look first for a hash, or for a slot. */
SEEP_INLINE uint64_t sites_index_place(const struct sites_index_level *l, uint64_t hash)
{
	return hash >> (64 - l->head.bits);
}

SEEP_INLINE uint64_t sites_index_mask(const struct sites_index_level *l)
{
	return (UINT64_C(1) << l->head.bits) - 1;
}

/* Fetches the place of an entry, which sites_index_insert() will soon write. */
SEEP_INLINE void sites_index_fetch(struct index *ix, uint64_t hash)
{
	const struct sites_index_level *l = sites_index_level(ix, LOAD_ACQUIRE(&ix->newest));

	__builtin_prefetch(&l->slots[sites_index_place(l, hash)], 1);
}

/* The number whose record equals key; 0 if there is none. Inlined. */
SEEP_INLINE uint32_t sites_index_find(
    struct index *ix, uint64_t hash, sites_index_same_fn *same, const void *key)
{
	const uint64_t tag = hash >> SITES_INDEX_NUMBER_BITS;
	/* before `newest`: what is moved meanwhile is found where it was */
	const uint32_t oldest = LOAD_ACQUIRE(&ix->oldest);
	uint32_t i = LOAD_ACQUIRE(&ix->newest);

	for (;; i--) {
		const struct sites_index_level *l = sites_index_level(ix, i);
		const uint64_t mask = sites_index_mask(l), at = sites_index_place(l, hash);
		uint32_t n;

		for (n = 0; n < SITES_INDEX_PROBES; n++) {
			uint64_t s = LOAD_ACQUIRE(&l->slots[(at + n) & mask]);
			uint32_t number = (uint32_t)s & ((1u << SITES_INDEX_NUMBER_BITS) - 1);

			if (!s)
				break;
			if (s >> SITES_INDEX_NUMBER_BITS == tag && same(key, number))
				return number;
		}
		if (likely(i == oldest))
			return 0;
	}
}

#endif

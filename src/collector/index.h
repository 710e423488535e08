/* index.h - hash -> number of a record; lock-free, grows by levels. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_INDEX_H
#define SEEP_COLLECTOR_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/levels.h"

/*
 * The records lie in the segment, the index in private memory, in levels
 * (levels.h). Look-ups go from the newest level to the oldest, inserts into the
 * newest. What is found in an old level is entered into the newest too.
 *
 * Slot = upper 41 bits of the hash | number (23 bits, never 0).
 */
enum {
	INDEX_NUMBER_BITS = 23,
	INDEX_FIRST_BITS = 9,
	INDEX_GROW_BITS = 2,
	INDEX_LEVELS = 8,
	INDEX_PROBES = 24,
};

struct index_level {
	struct level head;
	uint64_t used;
	uint64_t slots[];
};

struct index {
	struct level *levels[INDEX_LEVELS];
	uint32_t newest;
};

/* Makes it empty; a forked child calls it again. False: no memory. */
bool index_init(struct index *ix);

/*
 * Enters (hash, number) into the newest level. False: no memory to grow. Two
 * threads may enter one record under two numbers. Both are valid, and the
 * reader merges them by content.
 */
bool index_insert(struct index *ix, uint64_t hash, uint32_t number);

typedef bool index_same_fn(const void *key, uint32_t number);

SEEP_INLINE struct index_level *
index_level(struct index *ix, int i)
{
	return (struct index_level *)LOAD_ACQUIRE(&ix->levels[i]);
}

/* Fetches the place of an entry, which index_insert() will soon write. */
SEEP_INLINE void
index_fetch(struct index *ix, uint64_t hash)
{
	const struct index_level *l =
	    index_level(ix, (int)LOAD_ACQUIRE(&ix->newest));

	__builtin_prefetch(
	    &l->slots[hash & ((UINT64_C(1) << l->head.bits) - 1)], 1);
}

/* The number whose record equals key; 0 if there is none. Inlined. */
SEEP_INLINE uint32_t
index_find(
    struct index *ix, uint64_t hash, index_same_fn *same, const void *key)
{
	const uint64_t tag = hash >> INDEX_NUMBER_BITS;
	const uint32_t top = LOAD_ACQUIRE(&ix->newest);
	int i;

	for (i = (int)top; i >= 0; i--) {
		const struct index_level *l = index_level(ix, i);
		uint64_t mask = (UINT64_C(1) << l->head.bits) - 1;
		int n;

		for (n = 0; n < INDEX_PROBES; n++) {
			uint64_t s = LOAD_ACQUIRE(
			    &l->slots[(hash + (uint64_t)n) & mask]);
			uint32_t number =
			    (uint32_t)s & ((1u << INDEX_NUMBER_BITS) - 1);

			if (!s)
				break;
			if (s >> INDEX_NUMBER_BITS != tag || !same(key, number))
				continue;
			if (unlikely((uint32_t)i != top))
				index_insert(ix, hash, number);
			return number;
		}
	}
	return 0;
}

#endif

/* index.c - hash -> number of a record; lock-free, grows by levels. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/index.h"

static const struct levels_shape shape = {INDEX_LEVELS, INDEX_FIRST_BITS,
    INDEX_GROW_BITS, sizeof(struct index_level), sizeof(uint64_t)};

bool
index_init(struct index *ix)
{
	int i;

	for (i = 0; i < INDEX_LEVELS; i++)
		ix->levels[i] =
		    NULL; /* a forked child does not use its parent's levels */
	ix->newest = 0;
	return levels_open(ix->levels, &shape, 0) != NULL;
}

bool
index_insert(struct index *ix, uint64_t hash, uint32_t number)
{
	uint64_t slot =
	    (hash >> INDEX_NUMBER_BITS) << INDEX_NUMBER_BITS | number;
	int tries;

	for (tries = 0; tries < INDEX_LEVELS; tries++) {
		uint32_t at = LOAD_ACQUIRE(&ix->newest);
		struct index_level *l = index_level(ix, (int)at);
		uint64_t size = UINT64_C(1) << l->head.bits;
		int n;

		if (LOAD(&l->used) > size / 5 * 3 &&
		    levels_grow(ix->levels, &ix->newest, &shape, at))
			continue;
		for (n = 0; n < INDEX_PROBES; n++) {
			uint64_t *s =
			    &l->slots[(hash + (uint64_t)n) & (size - 1)];
			uint64_t free_slot = 0;

			if (CAS(s, &free_slot, slot)) {
				ADD(&l->used, 1);
				return true;
			}
			if (free_slot == slot)
				return true;
		}
		if (!levels_grow(ix->levels, &ix->newest, &shape, at))
			return false;
	}
	return false;
}

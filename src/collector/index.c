/* index.c - hash -> number of a record; lock-free, grows by levels. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/index.h"

#include "collector/mem.h"

static struct index_level *
new_level(uint32_t bits)
{
	struct index_level *l =
	    mem_alloc(sizeof(struct index_level) + (sizeof(uint64_t) << bits));

	if (l)
		l->bits = bits;
	return l;
}

bool
index_init(struct index *ix)
{
	int i;

	for (i = 1; i < INDEX_LEVELS; i++)
		ix->levels[i] = NULL; /* a child leaves its parent's behind */
	ix->newest = 0;
	ix->levels[0] = new_level(INDEX_FIRST_BITS);
	return ix->levels[0] != NULL;
}

static bool
grow(struct index *ix, uint32_t from)
{
	struct index_level *none = NULL;
	struct index_level *l;

	if (from + 1 >= INDEX_LEVELS)
		return false;
	if (!LOAD_ACQUIRE(&ix->levels[from + 1])) {
		l = new_level(INDEX_FIRST_BITS + INDEX_GROW_BITS * (from + 1));
		if (!l)
			return false;
		/* the loser's pages are wasted: rare and bounded */
		CAS(&ix->levels[from + 1], &none, l);
	}
	if (LOAD(&ix->newest) == from)
		STORE_RELEASE(&ix->newest, from + 1);
	return true;
}

bool
index_insert(struct index *ix, uint64_t hash, uint32_t number)
{
	uint64_t slot =
	    (hash >> INDEX_NUMBER_BITS) << INDEX_NUMBER_BITS | number;
	int tries;

	for (tries = 0; tries < INDEX_LEVELS; tries++) {
		uint32_t at = LOAD_ACQUIRE(&ix->newest);
		struct index_level *l = LOAD_ACQUIRE(&ix->levels[at]);
		uint64_t size = UINT64_C(1) << l->bits;
		int n;

		if (LOAD(&l->used) > size / 5 * 3 && grow(ix, at))
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
		if (!grow(ix, at))
			return false;
	}
	return false;
}

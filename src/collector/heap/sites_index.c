/* sites_index.c - hash -> number of a record; lock-free, grows by levels. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/sites_index.h"

static const struct levels_shape shape = {SITES_INDEX_LEVELS, SITES_INDEX_FIRST_BITS,
    SITES_INDEX_GROW_BITS, sizeof(struct sites_index_level), sizeof(uint64_t)};

bool sites_index_init(struct index *ix)
{
	int i;

	for (i = 0; i < SITES_INDEX_LEVELS; i++)
		ix->levels[i] = NULL; /* a forked child does not use its parent's levels */
	ix->newest = ix->oldest = 0;
	return levels_open(ix->levels, &shape, 0) != NULL;
}

/* False: there is no free slot where a look-up would find it. */
static bool put(struct sites_index_level *l, uint64_t slot)
{
	const uint64_t mask = sites_index_mask(l), at = sites_index_place(l, slot);
	uint64_t free_slot;
	uint32_t n;

	for (n = 0; n < SITES_INDEX_PROBES; n++) {
		uint64_t *s = &l->slots[(at + n) & mask];

		free_slot = LOAD(s);
		if (!free_slot && CAS(s, &free_slot, slot)) {
			/* two threads at once may count one; that is enough */
			STORE(&l->used, LOAD(&l->used) + 1);
			return true;
		}
		if (free_slot == slot)
			return true;
	}
	return false;
}

/*
 * Moves slots of level `from` to the newest one, which has room for them: of a
 * level as large as this, one slot in four is used when all is moved, at most.
 * Look-ups leave the old level when all of its slots have been moved, not when
 * all have been begun.
 */
static SEEP_NOINLINE void move_some(struct index *ix, uint32_t from, struct sites_index_level *to)
{
	struct sites_index_level *l = sites_index_level(ix, from);
	const uint64_t slots = sites_index_mask(l) + 1;
	uint64_t at = LOAD(&l->begun), slot;
	uint32_t i;

	if (at >= slots)
		return;
	at = ADD(&l->begun, SITES_INDEX_MOVED);
	if (at >= slots)
		return;
	for (i = 0; i < SITES_INDEX_MOVED; i++) {
		slot = LOAD_ACQUIRE(&l->slots[at + i]);
		if (slot && !put(to, slot))
			return; /* no room: this level is read for ever */
	}
	if (__atomic_add_fetch(&l->moved, SITES_INDEX_MOVED, __ATOMIC_ACQ_REL) == slots)
		CAS(&ix->oldest, &from, from + 1);
}

bool sites_index_insert(struct index *ix, uint64_t hash, uint32_t number)
{
	uint64_t slot = (hash >> SITES_INDEX_NUMBER_BITS) << SITES_INDEX_NUMBER_BITS | number;
	int tries;

	for (tries = 0; tries < SITES_INDEX_LEVELS; tries++) {
		uint32_t oldest = LOAD_ACQUIRE(&ix->oldest);
		uint32_t at = LOAD_ACQUIRE(&ix->newest);
		struct sites_index_level *l = sites_index_level(ix, at);

		if (LOAD(&l->used) > (sites_index_mask(l) + 1) / 5 * 3 &&
		    levels_grow(ix->levels, &ix->newest, &shape, at))
			continue;
		if (put(l, slot)) {
			/* its place may have been moved before it was put */
			if (unlikely(LOAD_ACQUIRE(&ix->newest) != at))
				continue;
			if (oldest != at)
				move_some(ix, oldest, l);
			return true;
		}
		if (!levels_grow(ix->levels, &ix->newest, &shape, at))
			return false;
	}
	return false;
}

/* live_hit.h - the live map, as hooks use it inline: no call, nothing is mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIVE_HIT_H
#define SEEP_LIVE_HIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/heap/live.h"
#include "collector/thread_types.h"
#include "format/cell.h"

/* ---- from an address to its cell ------------------------------------------ */

/* The cell of an address, through the levels; NULL if one is missing. */
SEEP_INLINE uint64_t *live_cell(uint64_t address)
{
	uint64_t **mid = LOAD_ACQUIRE(&live_root[(address >> (CELL_MID_BITS + CELL_LEAF_BITS)) &
	    ((1u << CELL_ROOT_BITS) - 1)]);
	uint64_t *leaf;

	if (unlikely(!mid))
		return NULL;
	leaf = LOAD_ACQUIRE(&mid[(address >> CELL_LEAF_BITS) & ((1u << CELL_MID_BITS) - 1)]);
	if (unlikely(!leaf))
		return NULL;
	return &leaf[(address & ((1u << CELL_LEAF_BITS) - 1)) >> live_granule_bits];
}

/* The cell of an address in the leaf that has this origin. */
SEEP_INLINE uint64_t *live_cell_from(uint64_t origin, uint64_t address)
{
	uint64_t *cell =
	    (uint64_t *)(uintptr_t)(origin + (address >> live_granule_bits) * sizeof(uint64_t));

	if (!cell)
		__builtin_unreachable();
	return cell;
}

/*
 * The bits that all addresses of a leaf have in common. The lowest bits are
 * kept, too, so the key of a block without a cell, whose address is not a
 * multiple of CELL_ALIGN, is not that of any leaf.
 */
SEEP_INLINE uint64_t live_key(uint64_t address)
{
	return address & ~((UINT64_C(1) << CELL_LEAF_BITS) - (uint64_t)CELL_ALIGN);
}

/* The entry of the cache for an address, by the lowest bits of its leaf. */
SEEP_INLINE struct live_cached *live_cached_at(struct live_cache *cache, uint64_t address)
{
	enum { ENTRY_BITS = 4 };

	_Static_assert(sizeof(cache->at[0]) == 1 << ENTRY_BITS, "an entry");
	return (struct live_cached *)(void *)((uint8_t *)cache->at +
	    (address >> (CELL_LEAF_BITS - ENTRY_BITS) &
	        ((1u << LIVE_CACHE_BITS) - 1) << ENTRY_BITS));
}

/* The cell of an address; NULL if there is no leaf for it. */
SEEP_INLINE uint64_t *live_cell_cached(struct live_cache *cache, uint64_t address)
{
	struct live_cached *at = live_cached_at(cache, address);

	if (likely(at->key == live_key(address)))
		return live_cell_from(at->origin, address);
	if (unlikely(!cell_is_for(address)))
		return NULL; /* it is in the spill table */
	return live_cell(address);
}

/*
 * The same, and the leaf is remembered in the cache. Only frees do this: in an
 * allocation it would take one more register, which each hook would have to
 * save.
 */
SEEP_INLINE uint64_t *live_cell_remembered(struct live_cache *cache, uint64_t address)
{
	struct live_cached *at = live_cached_at(cache, address);
	uint64_t *cell = live_cell_cached(cache, address);

	if (likely(at->key == live_key(address)) || unlikely(!cell))
		return cell;
	at->key = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->origin = (uint64_t)(uintptr_t)cell - (address >> live_granule_bits) * sizeof(*cell);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->key = live_key(address);
	return cell;
}

/* Could a second cell of this block be in the next leaf? */
SEEP_INLINE bool live_is_at_border(uint64_t address)
{
	return (address & ((1u << CELL_LEAF_BITS) - 1)) >= (1u << CELL_LEAF_BITS) - 32;
}

/* ---- blocks --------------------------------------------------------------- */

/*
 * The cell in which a block can be recorded with live_store(). NULL: nothing was
 * changed, and live_put_slow() has to do it.
 */
SEEP_INLINE uint64_t *live_vacant(struct live_cache *cache, uint64_t address, uint64_t size)
{
	uint64_t *cell = live_cell_cached(cache, address);

	if (unlikely(!cell))
		return NULL;
	if (unlikely(!cpu_touch(cell)))
		return NULL;
	if (size >= CELL_LARGE && unlikely(live_is_at_border(address) || cell[1]))
		return NULL;
	return cell;
}

SEEP_INLINE void live_store(
    uint64_t *cell, uint64_t address, uint32_t site, uint64_t size, uint32_t birth)
{
	if (likely(size < CELL_LARGE)) {
		*cell = cell_make(address, site, (uint32_t)size, birth);
		return;
	}
	cell[1] = size;
	*cell = cell_make(address, site, CELL_LARGE, birth);
}

/* Both. If it returns false, nothing was stored. */
SEEP_INLINE bool live_put_fast(
    struct live_cache *cache, uint64_t address, uint32_t site, uint64_t size, uint32_t birth)
{
	uint64_t *cell = live_vacant(cache, address, size);

	if (unlikely(!cell))
		return false;
	live_store(cell, address, site, size, birth);
	return true;
}

/* A block and the cell that it was found in. */
struct live_found {
	uint64_t *cell;
	struct live_block block;
};

/* Decodes a cell. */
SEEP_INLINE struct live_found live_found_at(uint64_t *cell)
{
	uint64_t v = *cell;
	struct live_found f = {.cell = cell};

	f.block.size = cell_class(v);
	if (f.block.size == CELL_LARGE)
		f.block.size = cell[1];
	f.block.birth = cell_birth(v);
	f.block.site = cell_site(v);
	return f;
}

/*
 * Finds the block at an address and leaves it in the map; live_drop() removes
 * it. If the site is 0, there is no such block, or only live_take_slow() can
 * find it.
 */
SEEP_INLINE struct live_found live_find(struct live_cache *cache, uint64_t address)
{
	struct live_found none = {0};
	uint64_t *cell = live_cell_remembered(cache, address);

	/* the size of a large block is in the next cell, if there is one */
	if (unlikely(!cell) ||
	    (cell_class(*cell) == CELL_LARGE && unlikely(live_is_at_border(address))))
		return none;
	return live_found_at(cell);
}

SEEP_INLINE void live_drop(const struct live_found *f)
{
	if (f->block.size >= CELL_LARGE)
		f->cell[1] = 0;
	*f->cell = 0;
}

/* Removes a block and returns what it was; its site is 0 if there is none. */
SEEP_INLINE struct live_block live_take(struct live_cache *cache, uint64_t address)
{
	struct live_found f = live_find(cache, address);

	if (unlikely(!f.block.site))
		return live_take_slow(address);
	live_drop(&f);
	return f.block;
}

#endif

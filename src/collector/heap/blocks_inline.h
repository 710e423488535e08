/* blocks_inline.h - the live map, as hooks use it inline: no call, nothing is mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BLOCKS_INLINE_H
#define SEEP_BLOCKS_INLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"
#include "collector/heap/blocks.h"
#include "collector/thread_types.h"
#include "format/cell.h"

/* ---- from an address to its cell ------------------------------------------ */

/* The cell of an address, through the levels; NULL if one is missing. */
SEEP_INLINE uint64_t *blocks_cell(uint64_t address)
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
SEEP_INLINE uint64_t *blocks_cell_from(uint64_t origin, uint64_t address)
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
SEEP_INLINE uint64_t blocks_key(uint64_t address)
{
	return address & ~((UINT64_C(1) << CELL_LEAF_BITS) - (uint64_t)CELL_ALIGN);
}

/* The entry of the cache for an address, by the lowest bits of its leaf. */
SEEP_INLINE struct blocks_cached *blocks_cached_at(struct blocks_cache *cache, uint64_t address)
{
	enum { ENTRY_BITS = 4 };

	_Static_assert(sizeof(cache->at[0]) == 1 << ENTRY_BITS, "an entry");
	return (struct blocks_cached *)(void *)((uint8_t *)cache->at +
	    (address >> (CELL_LEAF_BITS - ENTRY_BITS) &
	        ((1u << BLOCKS_CACHE_BITS) - 1) << ENTRY_BITS));
}

/* The cell of an address; NULL if there is no leaf for it. */
SEEP_INLINE uint64_t *blocks_cell_cached(struct blocks_cache *cache, uint64_t address)
{
	struct blocks_cached *at = blocks_cached_at(cache, address);

	if (likely(at->key == blocks_key(address)))
		return blocks_cell_from(at->origin, address);
	if (unlikely(!cell_is_for(address)))
		return NULL; /* it is in the spill table */
	return blocks_cell(address);
}

/*
 * The same, and the leaf is remembered in the cache. Only frees do this: in an
 * allocation it would take one more register, which each hook would have to
 * save.
 */
SEEP_INLINE uint64_t *blocks_cell_remembered(struct blocks_cache *cache, uint64_t address)
{
	struct blocks_cached *at = blocks_cached_at(cache, address);
	uint64_t *cell = blocks_cell_cached(cache, address);

	if (likely(at->key == blocks_key(address)) || unlikely(!cell))
		return cell;
	at->key = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->origin = (uint64_t)(uintptr_t)cell - (address >> live_granule_bits) * sizeof(*cell);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->key = blocks_key(address);
	return cell;
}

/* Could a second cell of this block be in the next leaf? */
SEEP_INLINE bool blocks_is_at_border(uint64_t address)
{
	return (address & ((1u << CELL_LEAF_BITS) - 1)) >= (1u << CELL_LEAF_BITS) - 32;
}

/* ---- blocks --------------------------------------------------------------- */

/*
 * The cell in which a block can be recorded with blocks_store(). NULL: nothing was
 * changed, and blocks_put_slow() has to do it.
 */
SEEP_INLINE uint64_t *blocks_vacant(struct blocks_cache *cache, uint64_t address, uint64_t size)
{
	uint64_t *cell = blocks_cell_cached(cache, address);

	if (unlikely(!cell))
		return NULL;
	if (unlikely(!cpu_touch(cell)))
		return NULL;
	if (size >= CELL_LARGE && unlikely(blocks_is_at_border(address) || cell[1]))
		return NULL;
	return cell;
}

SEEP_INLINE void blocks_store(
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
SEEP_INLINE bool blocks_put_fast(
    struct blocks_cache *cache, uint64_t address, uint32_t site, uint64_t size, uint32_t birth)
{
	uint64_t *cell = blocks_vacant(cache, address, size);

	if (unlikely(!cell))
		return false;
	blocks_store(cell, address, site, size, birth);
	return true;
}

/* A block and the cell that it was found in. */
struct blocks_found {
	uint64_t *cell;
	struct block_entry block;
};

/* Decodes a cell. */
SEEP_INLINE struct blocks_found blocks_found_at(uint64_t *cell)
{
	uint64_t v = *cell;
	struct blocks_found f = {.cell = cell};

	f.block.size = cell_class(v);
	if (f.block.size == CELL_LARGE)
		f.block.size = cell[1];
	f.block.birth = cell_birth(v);
	f.block.site = cell_site(v);
	return f;
}

/*
 * Finds the block at an address and leaves it in the map; blocks_drop() removes
 * it. If the site is 0, there is no such block, or only blocks_take_slow() can
 * find it.
 */
SEEP_INLINE struct blocks_found blocks_find(struct blocks_cache *cache, uint64_t address)
{
	struct blocks_found none = {0};
	uint64_t *cell = blocks_cell_remembered(cache, address);

	/* the size of a large block is in the next cell, if there is one */
	if (unlikely(!cell) ||
	    (cell_class(*cell) == CELL_LARGE && unlikely(blocks_is_at_border(address))))
		return none;
	return blocks_found_at(cell);
}

SEEP_INLINE void blocks_drop(const struct blocks_found *f)
{
	if (f->block.size >= CELL_LARGE)
		f->cell[1] = 0;
	*f->cell = 0;
}

/* Removes a block and returns what it was; its site is 0 if there is none. */
SEEP_INLINE struct block_entry blocks_take(struct blocks_cache *cache, uint64_t address)
{
	struct blocks_found f = blocks_find(cache, address);

	if (unlikely(!f.block.site))
		return blocks_take_slow(address);
	blocks_drop(&f);
	return f.block;
}

#endif

/* live.h - the live map: block address -> site, size, birth. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_LIVE_H
#define SEEP_COLLECTOR_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "cpu/cpu.h"
#include "trace/cell.h"

/*
 * A shadow of the heap: one 8-byte cell per granule of 32 bytes (16 where
 * another allocator than glibc's is in charge), in three levels that are
 * mapped when first needed. No locks and no atomics: between malloc and free
 * a block has one owner, and the owner alone touches its cells. Private
 * memory: fork copies it for nothing.
 *
 * What a cell is, and which blocks are in the spill table (spill.c) instead,
 * trace/cell.h says.
 */
enum {
	LIVE_MID_LAST = (1 << CELL_MID_BITS) - 1,
	LIVE_ALONE = 32 << 10, /* bytes of a block that needs no neighbours */
};

struct live_block {
	uint32_t site; /* 0: no such block */
	uint32_t birth;
	uint64_t size;
};

extern SEEP_HIDDEN uint64_t **live_root[1 << CELL_ROOT_BITS];
extern SEEP_HIDDEN uint32_t live_granule_bits; /* 5 or 4 */

/* libc's idea of the program break (__curbrk), or NULL. */
extern SEEP_HIDDEN const uint64_t *live_break;

extern SEEP_HIDDEN uint64_t live_spilled; /* blocks in the spill table */

/*
 * A thread remembers the leaves it used last: most of its blocks are there, and
 * one compare replaces two dependent loads. Leaves never move or go away. The
 * key is never that of another's leaf, not even for a moment: a handler may
 * jump out of here.
 */
enum { LIVE_CACHE_BITS = 6 };
struct live_cache {
	struct live_cached {
		uint64_t key; /* live_key() of its blocks, 0: none */
		/* where the cell of address 0 would be, were it all one leaf */
		uint64_t origin;
	} at[1 << LIVE_CACHE_BITS];
};

void live_forget(struct live_cache *cache);

/*
 * Opens ahead what may be needed soon (mem_refill, segment_refill), if the
 * host's allocator has just asked the kernel for memory, for this block or (0,
 * 0) for any.
 */
void live_look_ahead(uint64_t address, uint64_t size);

SEEP_INLINE uint64_t *
live_cell(uint64_t address)
{
	uint64_t **mid = LOAD_ACQUIRE(
	    &live_root[(address >> (CELL_MID_BITS + CELL_LEAF_BITS)) &
	        ((1u << CELL_ROOT_BITS) - 1)]);
	uint64_t *leaf;

	if (unlikely(!mid))
		return NULL;
	leaf = LOAD_ACQUIRE(
	    &mid[(address >> CELL_LEAF_BITS) & ((1u << CELL_MID_BITS) - 1)]);
	if (unlikely(!leaf))
		return NULL;
	return &leaf[(address & ((1u << CELL_LEAF_BITS) - 1)) >>
	    live_granule_bits];
}

SEEP_INLINE uint64_t *
live_cell_from(uint64_t origin, uint64_t address)
{
	uint64_t *cell = (uint64_t *)(uintptr_t)(origin +
	    (address >> live_granule_bits) * sizeof(uint64_t));

	if (!cell)
		__builtin_unreachable();
	return cell;
}

/*
 * What addresses in a leaf have in common. The lowest bits are part of it, so
 * that those of a block that has no cell match no key.
 */
SEEP_INLINE uint64_t
live_key(uint64_t address)
{
	return address &
	    ~((UINT64_C(1) << CELL_LEAF_BITS) - (uint64_t)CELL_ALIGN);
}

/* The entry of the cache for an address, by the lowest bits of its leaf. */
SEEP_INLINE struct live_cached *
live_cached_at(struct live_cache *cache, uint64_t address)
{
	enum { ENTRY_BITS = 4 };

	_Static_assert(sizeof(cache->at[0]) == 1 << ENTRY_BITS, "an entry");
	return (struct live_cached *)(void *)((uint8_t *)cache->at +
	    (address >> (CELL_LEAF_BITS - ENTRY_BITS) &
	        ((1u << LIVE_CACHE_BITS) - 1) << ENTRY_BITS));
}

/* NULL: no such leaf. */
SEEP_INLINE uint64_t *
live_cell_cached(struct live_cache *cache, uint64_t address)
{
	struct live_cached *at = live_cached_at(cache, address);

	if (likely(at->key == live_key(address)))
		return live_cell_from(at->origin, address);
	if (unlikely(!cell_is_for(address)))
		return NULL; /* spilled; so no key in the cache is like it */
	return live_cell(address);
}

/*
 * The same, and the leaf is remembered: by frees. For allocations it would be
 * a register more, which all of them would have to save.
 */
SEEP_INLINE uint64_t *
live_cell_remembered(struct live_cache *cache, uint64_t address)
{
	struct live_cached *at = live_cached_at(cache, address);
	uint64_t *cell = live_cell_cached(cache, address);

	if (likely(at->key == live_key(address)) || unlikely(!cell))
		return cell;
	at->key = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->origin = (uint64_t)(uintptr_t)cell -
	    (address >> live_granule_bits) * sizeof(*cell);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	at->key = live_key(address);
	return cell;
}

/* The second cell of a large block may lie in the next leaf. */
SEEP_INLINE bool
live_is_at_border(uint64_t address)
{
	return (address & ((1u << CELL_LEAF_BITS) - 1)) >=
	    (1u << CELL_LEAF_BITS) - 32;
}

/*
 * Without a thread's cache: for the slow ways, and for what the fast forms
 * cannot do (spill table, missing levels, blocks at a leaf's border).
 * live_put_slow() is false where there is no room: the block is not tracked.
 * What stood there before (a free that we missed) comes back in *ret_old, else
 * its site is 0.
 */
bool live_put_slow(uint64_t address, uint32_t site, uint64_t size,
    uint32_t birth, struct live_block *ret_old);
struct live_block live_take_slow(uint64_t address);

/*
 * Before live_put_slow(): takes out a block at another address that the new one
 * would overlap, so that its free must have passed by us. Site 0: none is left.
 */
struct live_block live_take_overlapped(uint64_t address, uint64_t size);

/*
 * Enters a block. False: not done, live_put_slow() must. No call, and no store
 * before it is sure.
 */
SEEP_INLINE bool
live_put_fast(struct live_cache *cache, uint64_t address, uint32_t site,
    uint64_t size, uint32_t birth)
{
	uint64_t *cell = live_cell_cached(cache, address);

	if (unlikely(!cell))
		return false;
	if (unlikely(!cpu_touch(cell)))
		return false;
	if (likely(size < CELL_LARGE)) {
		*cell = cell_make(address, site, (uint32_t)size, birth);
		return true;
	}
	if (unlikely(live_is_at_border(address) || cell[1]))
		return false;
	cell[1] = size;
	*cell = cell_make(address, site, CELL_LARGE, birth);
	return true;
}

struct live_found {
	uint64_t *cell;
	struct live_block block;
};

/* What a cell that is in use says. */
SEEP_INLINE struct live_found
live_found_at(uint64_t *cell)
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
 * What block this is, without taking it out; site 0: not there, or only the
 * slow form can tell. live_drop() takes out what was found.
 */
SEEP_INLINE struct live_found
live_find(struct live_cache *cache, uint64_t address)
{
	struct live_found none = {0};
	uint64_t *cell = live_cell_remembered(cache, address);

	/* the size of a large block is in the next cell, if there is one */
	if (unlikely(!cell) ||
	    (cell_class(*cell) == CELL_LARGE &&
	        unlikely(live_is_at_border(address))))
		return none;
	return live_found_at(cell);
}

SEEP_INLINE void
live_drop(const struct live_found *f)
{
	if (f->block.size >= CELL_LARGE)
		f->cell[1] = 0;
	*f->cell = 0;
}

/* Removes a block and says what it was; site 0 when it is not there. */
SEEP_INLINE struct live_block
live_take(struct live_cache *cache, uint64_t address)
{
	struct live_found f = live_find(cache, address);

	if (unlikely(!f.block.site))
		return live_take_slow(address);
	live_drop(&f);
	return f.block;
}

/*
 * The cell of the block that begins here, without touching it: site, size and
 * birth as trace/cell.h has them; of a spilled one the cell there. 0: none.
 */
uint64_t live_peek(uint64_t address);

/* glibc in charge: granules of 32 bytes; else 16. */
void live_init(bool glibc);

/* Calls fn for every block while fn returns true; the destructor's scan. */
void live_scan(
    bool (*fn)(uint64_t address, struct live_block b, void *arg), void *arg);

#endif

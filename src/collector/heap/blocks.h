/* blocks.h - the live map: block address -> site, size, birth. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BLOCKS_H
#define SEEP_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "format/cell.h"
#include "collector/segment/levels.h"

/*
 * A shadow of the heap in private memory: one cell of 8 bytes for each granule
 * of 32 bytes, or of 16 bytes if the host's allocator is not glibc's. The cells
 * are in three levels of tables, which are mapped when they are first needed.
 * There are no locks and no atomic updates: from malloc to free a block belongs
 * to one owner, and only the owner touches its cells. A forked child gets a copy
 * of the map with the rest of its memory.
 *
 * format/cell.h describes a cell, and which blocks are in the spill table
 * instead. blocks_inline.h has what hooks do inline.
 */
enum {
	BLOCKS_MID_LAST = (1 << CELL_MID_BITS) - 1,
	/* blocks of this size are spilled rather than get a leaf for themselves */
	BLOCKS_ALONE = 32 << 10,
};

struct block_entry {
	uint32_t site; /* 0: there is no such block */
	uint32_t birth;
	uint64_t size;
};

extern SEEP_HIDDEN uint64_t **live_root[1 << CELL_ROOT_BITS];
extern SEEP_HIDDEN uint32_t live_granule_bits; /* 5 or 4 */

/* libc's variable with the program break (__curbrk), or NULL. */
extern SEEP_HIDDEN const uint64_t *blocks_break;

extern SEEP_HIDDEN uint64_t blocks_spilled; /* blocks in the spill table */

/* Of a thread: forgets the leaves that it used last. */
struct blocks_cache;
void blocks_forget(struct blocks_cache *cache);

/*
 * If the host's allocator has just got memory from the kernel, for this block or
 * (with 0, 0) for any, maps what we may soon need (mem_refill, segment_refill).
 */
void blocks_look_ahead(uint64_t address, uint64_t size);

/*
 * For all blocks, without a thread's cache: the functions of blocks_inline.h leave
 * the spill table, missing levels and blocks at the border of a leaf to these.
 * blocks_put_slow() returns false if there is no room; then the block is not
 * tracked. *ret_old is the block that was recorded at this address before, whose
 * free we have missed; its site is 0 if there was none. blocks_take_slow() removes
 * a block and returns what it was.
 */
bool blocks_put_slow(
    uint64_t address, uint32_t site, uint64_t size, uint32_t birth, struct block_entry *ret_old);
struct block_entry blocks_take_slow(uint64_t address);

/*
 * Before blocks_put_slow(): removes one block at another address that the new one
 * would overlap. Such a block was freed without our knowledge. Site 0 if there
 * is none, or no more.
 */
struct block_entry blocks_take_overlapped(uint64_t address, uint64_t size);

/*
 * The cell of the block that begins at this address, or 0 if there is none, and
 * nothing is changed. Of a spilled block this is the cell in the spill table.
 */
uint64_t blocks_peek(uint64_t address);

/* `glibc`: the host's malloc is glibc's, so granules have 32 bytes, else 16. */
void blocks_init(bool glibc);

/* Calls fn for each block as long as fn returns true; for the destructor. */
void blocks_scan(bool (*fn)(uint64_t address, struct block_entry b, void *arg), void *arg);

/*
 * The spill table, for blocks that have no cell of their own.
 * Lock-free open addressing in levels (levels.h). One address has one owner at
 * a time, so threads compete only for free slots. A slot that was used once is
 * reused, and never becomes empty again.
 */
struct blocks_spill_level {
	struct level head;
	struct cell_spilled slots[];
};

_Static_assert(sizeof(struct level) == CELL_SPILL_HEAD_BYTES, "a level's head");

extern SEEP_HIDDEN struct level *blocks_spill_levels[CELL_SPILL_LEVELS];

bool blocks_spill_put(
    uint64_t address, uint32_t site, uint64_t size, uint32_t birth, struct block_entry *ret_old);
struct block_entry blocks_spill_take(uint64_t address);

/* Its cell, 0: it is not here. */
uint64_t blocks_spill_peek(uint64_t address);

#endif

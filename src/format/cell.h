/* cell.h - the live map: what the collector writes and a reader decodes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CELL_H
#define SEEP_CELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cpu/cpu.h"

/*
 * The live map is in the host's private memory. Three levels lead from the
 * address of a block to its cell:
 *
 *   root   2^CELL_ROOT_BITS pointers, by the topmost bits of the address
 *   mid    2^CELL_MID_BITS pointers
 *   leaf   one cell for each granule of 2^CELL_LEAF_BITS bytes
 *
 * A granule has 32 bytes where glibc allocates, which never puts two blocks
 * into one, and 16 bytes otherwise.
 *
 *   bits 38-63   site id, 0: no block begins here
 *   bits 32-37   class: the size, or CELL_LARGE: the size is the next cell,
 *                which has no site id and belongs to the same block
 *   bit  31      bit 4 of the block's address
 *   bits 0-30    birth, in ticks
 *
 * A block whose address is not a multiple of CELL_ALIGN, or has more than
 * CPU_ADDRESS_BITS bits, has no cell. It is in the spill table, and so are
 * large blocks without small ones near them, and the few blocks of a sampled
 * process, because a leaf for them would take much address space for little.
 * The table has CELL_SPILL_LEVELS levels. A level is one word, its number of
 * bits, and 2^bits entries of struct cell_spilled; level i has
 * CELL_SPILL_FIRST_BITS + i * CELL_SPILL_GROW_BITS bits.
 *
 * Version 1 of the cell (seg_header.live_cell_version) has 32 bits of birth
 * and no bit of the address, so it does not say at which of two possible
 * addresses in its granule a block begins. Version 3 is version 2 with a name
 * of the event log (format/seg_log.h) in place of the birth.
 */
enum {
	CELL_VERSION = 2,
	CELL_VERSION_LOG = 3,
	CELL_ROOT_BITS = 12,
	CELL_MID_BITS = 15,
	CELL_LEAF_BITS = 20,
	CELL_GRANULE_GLIBC = 5, /* bits */
	CELL_GRANULE_OTHER = 4,
	CELL_ALIGN = 16,
	CELL_LARGE = 63,
	CELL_SPILL_LEVELS = 12,
	CELL_SPILL_FIRST_BITS = 9,
	CELL_SPILL_GROW_BITS = 2,
	CELL_SPILL_HEAD_BYTES = 8,
};

/* The clock of a process stops at this tick, after 6.8 years. */
#define CELL_BIRTH_MAX UINT32_C(0x7fffffff)

_Static_assert(CELL_ROOT_BITS + CELL_MID_BITS + CELL_LEAF_BITS == CPU_ADDRESS_BITS,
    "the levels cover all addresses");

struct cell_spilled {
	uint64_t address; /* 0 never used, 1 free again */
	uint64_t cell;    /* its class is CELL_LARGE, its bit 31 is 0 */
	uint64_t size;
	uint64_t reserved;
};

_Static_assert(sizeof(struct cell_spilled) == 32, "spilled");

/*
 * Can a block at this address have a cell? If not, it is always in the spill
 * table.
 */
static inline bool cell_is_for(uint64_t address)
{
	return !(address >> CPU_ADDRESS_BITS || address % CELL_ALIGN);
}

/*
 * Is `size` stored as a class? A multiple of CELL_ALIGN must have one bit left
 * after the shift. For a spilled block, pass 0 as the address.
 */
static inline uint64_t cell_make(uint64_t address, uint32_t site, uint32_t size, uint32_t birth)
{
	_Static_assert(CELL_ALIGN == 1 << 4, "bit 4 becomes bit 31");
	return (uint64_t)(site << 6 | size) << 32 | ((uint32_t)address << 27 | birth);
}

static inline uint32_t cell_site(uint64_t cell)
{
	return (uint32_t)(cell >> 38);
}

static inline uint32_t cell_class(uint64_t cell)
{
	return cell >> 32 & 63;
}

static inline uint32_t cell_birth(uint64_t cell)
{
	return (uint32_t)cell & CELL_BIRTH_MAX;
}

/* The address of the block whose cell is that of the granule at `granule`. */
static inline uint64_t cell_address(uint64_t cell, uint64_t granule, uint32_t granule_bits)
{
	return granule_bits == CELL_GRANULE_GLIBC ? granule | (cell >> 27 & 16) : granule;
}

#endif

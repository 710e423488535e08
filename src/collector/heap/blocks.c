/* blocks.c - the live map: block address -> site, size, birth. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/blocks.h"

#include "collector/heap/blocks_inline.h"
#include "collector/segment/mem.h"
#include "collector/heap/sample.h"
#include "collector/segment/segment.h"
#include "base/attr.h"
#include "base/hash.h"

/* ---- blocks that have no cell of their own -------------------------------- */

enum { PROBES = 32, FREE_AGAIN = 1 };

static const struct levels_shape shape = {CELL_SPILL_LEVELS, CELL_SPILL_FIRST_BITS,
    CELL_SPILL_GROW_BITS, sizeof(struct blocks_spill_level), sizeof(struct cell_spilled)};

struct level *blocks_spill_levels[CELL_SPILL_LEVELS];
uint64_t blocks_spilled;

static struct cell_spilled *slot_at(struct blocks_spill_level *l, uint64_t address, int n)
{
	return &l->slots[levels_place(&l->head, hash_word(address >> 3), (uint32_t)n)];
}

static struct cell_spilled *find(uint64_t address)
{
	int i, n;

	for (i = 0; i < CELL_SPILL_LEVELS; i++) {
		struct blocks_spill_level *l =
		    (struct blocks_spill_level *)LOAD_ACQUIRE(&blocks_spill_levels[i]);

		if (!l)
			return NULL;
		for (n = 0; n < PROBES; n++) {
			struct cell_spilled *s = slot_at(l, address, n);
			uint64_t a = LOAD_ACQUIRE(&s->address);

			if (a == address)
				return s;
			if (!a)
				break;
		}
	}
	return NULL;
}

static struct block_entry content(const struct cell_spilled *s)
{
	return (struct block_entry){
	    .site = cell_site(s->cell), .birth = cell_birth(s->cell), .size = s->size};
}

static void fill(struct cell_spilled *s, uint32_t site, uint64_t size, uint32_t birth)
{
	s->size = size;
	s->cell = cell_make(0, site, CELL_LARGE, birth);
}

bool blocks_spill_put(
    uint64_t address, uint32_t site, uint64_t size, uint32_t birth, struct block_entry *ret_old)
{
	struct cell_spilled *s = LOAD(&blocks_spilled) ? find(address) : NULL;
	int i, n;

	ret_old->site = 0;
	if (s) {
		*ret_old = content(s);
		fill(s, site, size, birth);
		return true;
	}
	for (i = 0; i < CELL_SPILL_LEVELS; i++) {
		struct blocks_spill_level *l = (struct blocks_spill_level *)levels_open(
		    blocks_spill_levels, &shape, (uint32_t)i);

		for (n = 0; l && n < PROBES; n++) {
			uint64_t a;

			s = slot_at(l, address, n);
			a = LOAD(&s->address);
			if (a > FREE_AGAIN || !CAS(&s->address, &a, address))
				continue;
			fill(s, site, size, birth);
			ADD(&blocks_spilled, 1);
			return true;
		}
	}
	segment_count(SEG_SPILL_FULL, 1);
	return false;
}

uint64_t blocks_spill_peek(uint64_t address)
{
	const struct cell_spilled *s = address > FREE_AGAIN ? find(address) : NULL;

	return s ? LOAD(&s->cell) : 0;
}

struct block_entry blocks_spill_take(uint64_t address)
{
	struct block_entry b = {0};
	struct cell_spilled *s = find(address);

	if (!s)
		return b;
	b = content(s);
	STORE_RELEASE(&s->address, FREE_AGAIN);
	ADD(&blocks_spilled, (uint64_t)-1);
	return b;
}

uint64_t **live_root[1 << CELL_ROOT_BITS];
uint32_t live_granule_bits SEEP_HOT = CELL_GRANULE_GLIBC;
const uint64_t *blocks_break;

enum {
	MAPPED_FROM = 128 << 10, /* glibc maps requests from here on */
	CHUNK_HEAD = 16,         /* of such a mapping, before the block */
};

/*
 * Which leaves of a middle level there are: the largest index, and by how much
 * the smallest is below the end. To look through all of it at the exit would
 * be 64 page faults for each of the two or three that a program has.
 */
static struct used {
	uint16_t up_to, down_to;
} used[1 << CELL_ROOT_BITS];

_Static_assert(BLOCKS_MID_LAST <= UINT16_MAX, "indexes of leaves");

void blocks_init(bool glibc)
{
	live_granule_bits = glibc ? CELL_GRANULE_GLIBC : CELL_GRANULE_OTHER;
}

/*
 * A leaf is a quarter of what it covers. For large blocks with no small one near
 * them, and for the few blocks of a sampled process, that would be a quarter of
 * the host's address space for next to nothing: they are kept in the spill
 * table. Who looks for one finds no leaf, or an empty cell, and looks there.
 */
static bool stands_alone(uint64_t address, uint64_t size)
{
	return (size >= BLOCKS_ALONE || sample_rate()) && !blocks_cell(address);
}

/*
 * Has the host's allocator just got memory from the kernel? Then it may call the
 * kernel, whatever filter is in force, and so may we. Its break has moved since
 * we looked, which is every 64 events of a thread at least, or this block is a
 * mapping of its own as glibc makes them.
 */
static bool is_fresh(uint64_t address, uint64_t size)
{
	static uint64_t last_break;
	uint64_t now = blocks_break ? LOAD(blocks_break) : 0;

	if (now != LOAD(&last_break)) {
		STORE(&last_break, now);
		return true;
	}
	return size >= MAPPED_FROM && (address & (CPU_PAGE - 1)) == CHUNK_HEAD;
}

void blocks_look_ahead(uint64_t address, uint64_t size)
{
	if (!is_fresh(address, size))
		return;
	mem_refill();
	segment_refill();
}

/* Maps what the address needs. NULL: no memory. */
SEEP_COLD static uint64_t *open_cell(uint64_t address)
{
	uint64_t ***top = &live_root[(address >> (CELL_MID_BITS + CELL_LEAF_BITS)) &
	    ((1u << CELL_ROOT_BITS) - 1)];
	uint64_t **mid = mem_publish(top, sizeof(*mid) << CELL_MID_BITS);
	uint32_t at = address >> CELL_LEAF_BITS & BLOCKS_MID_LAST;

	if (!mid)
		return NULL;
	/* before the leaf is there, so that a scan can miss none */
	RAISE(&used[top - live_root].up_to, at);
	RAISE(&used[top - live_root].down_to, BLOCKS_MID_LAST - at);
	if (!mem_publish(&mid[at], sizeof(**mid) << (CELL_LEAF_BITS - live_granule_bits)))
		return NULL;
	return blocks_cell(address);
}

SEEP_NOINLINE bool blocks_put_slow(
    uint64_t address, uint32_t site, uint64_t size, uint32_t birth, struct block_entry *ret_old)
{
	uint64_t next_address = address + (UINT64_C(1) << live_granule_bits);
	uint64_t *cell, *next;

	ret_old->site = 0;
	blocks_look_ahead(address, size);
	if (!cell_is_for(address) || stands_alone(address, size))
		return blocks_spill_put(address, site, size, birth, ret_old);
	cell = open_cell(address);
	if (!cell) {
		segment_count(SEG_NO_MEMORY, 1);
		return false;
	}
	(void)cpu_touch(cell);
	if (cell_site(*cell))
		*ret_old = blocks_take_slow(address);
	*cell = 0; /* or the size of a block whose free we missed */
	if (size < CELL_LARGE) {
		*cell = cell_make(address, site, (uint32_t)size, birth);
		return true;
	}
	next = open_cell(next_address);
	if (!next) {
		segment_count(SEG_NO_MEMORY, 1);
		return false;
	}
	*next = size;
	*cell = cell_make(address, site, CELL_LARGE, birth);
	return true;
}

SEEP_NOINLINE struct block_entry blocks_take_slow(uint64_t address)
{
	uint64_t *cell = cell_is_for(address) ? blocks_cell(address) : NULL;
	struct block_entry b = {0};
	uint64_t *second;

	if (!cell || !cell_site(*cell))
		return LOAD(&blocks_spilled) ? blocks_spill_take(address) : b;
	b.birth = cell_birth(*cell);
	b.size = cell_class(*cell);
	b.site = cell_site(*cell);
	if (b.size == CELL_LARGE) {
		second = blocks_cell(address + (UINT64_C(1) << live_granule_bits));
		b.size = second ? *second : 0;
		if (second)
			*second = 0;
	}
	*cell = 0;
	return b;
}

uint64_t blocks_peek(uint64_t address)
{
	const uint64_t *cell = cell_is_for(address) ? blocks_cell(address) : NULL;
	uint64_t v = cell ? LOAD(cell) : 0;

	/* in the other half of a granule another block begins */
	if (cell_site(v) && cell_address(v, address & ~UINT64_C(31), CELL_GRANULE_GLIBC) == address)
		return v;
	return LOAD(&blocks_spilled) ? blocks_spill_peek(address) : 0;
}

/* A large block, whose size is in the next cell? */
static bool is_large(const uint64_t *cell)
{
	return cell && cell_site(*cell) && cell_class(*cell) == CELL_LARGE;
}

struct block_entry blocks_take_overlapped(uint64_t address, uint64_t size)
{
	const uint64_t granule = UINT64_C(1) << live_granule_bits;
	struct block_entry none = {0};
	uint64_t *cell, *next;

	if (!cell_is_for(address))
		return none;
	cell = blocks_cell(address);
	/* a size: of the large block before, which reaches to here */
	if (cell && *cell && !cell_site(*cell) && is_large(blocks_cell(address - granule)))
		return blocks_take_slow(address - granule);
	if (size < CELL_LARGE || is_large(cell))
		return none; /* blocks_put_slow() sees to what is in the cell */
	next = blocks_cell(address + granule);
	return next && cell_site(*next) ? blocks_take_slow(address + granule) : none;
}

void blocks_forget(struct blocks_cache *cache)
{
	int i;

	for (i = 0; i < 1 << BLOCKS_CACHE_BITS; i++)
		cache->at[i].key = 0;
}

static bool scan_leaf(uint64_t base, const uint64_t *leaf,
    bool (*fn)(uint64_t, struct block_entry, void *), void *arg)
{
	uint64_t cells = UINT64_C(1) << (CELL_LEAF_BITS - live_granule_bits);
	uint64_t i;

	for (i = 0; i < cells; i++) {
		uint64_t v = LOAD(&leaf[i]);
		struct block_entry b = {
		    .site = cell_site(v), .birth = cell_birth(v), .size = cell_class(v)};
		uint64_t address =
		    cell_address(v, base + (i << live_granule_bits), live_granule_bits);

		if (!b.site)
			continue;
		if (b.size == CELL_LARGE) {
			const uint64_t *next = i + 1 < cells
			    ? &leaf[i + 1]
			    : blocks_cell(base + (cells << live_granule_bits));

			if (!next)
				continue;
			b.size = LOAD(next);
			i++; /* the second cell is no block */
		}
		if (!fn(address, b, arg))
			return false;
	}
	return true;
}

void blocks_scan(bool (*fn)(uint64_t, struct block_entry, void *), void *arg)
{
	uint64_t i, j;
	int k;

	for (i = 0; i < UINT64_C(1) << CELL_ROOT_BITS; i++) {
		uint64_t **mid = LOAD_ACQUIRE(&live_root[i]);

		for (j = BLOCKS_MID_LAST - LOAD(&used[i].down_to); mid && j <= LOAD(&used[i].up_to);
		     j++) {
			uint64_t *leaf = LOAD_ACQUIRE(&mid[j]);
			uint64_t base = (i << CELL_MID_BITS | j) << CELL_LEAF_BITS;

			if (leaf && !scan_leaf(base, leaf, fn, arg))
				return;
		}
	}
	for (k = 0; k < CELL_SPILL_LEVELS; k++) {
		const struct blocks_spill_level *l =
		    (const struct blocks_spill_level *)LOAD_ACQUIRE(&blocks_spill_levels[k]);

		for (j = 0; l && j < UINT64_C(1) << l->head.bits; j++) {
			const struct cell_spilled *s = &l->slots[j];
			struct block_entry b = {.site = cell_site(s->cell),
			    .birth = cell_birth(s->cell),
			    .size = s->size};

			if (LOAD(&s->address) > 1 && !fn(s->address, b, arg))
				return;
		}
	}
}

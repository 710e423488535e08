/* test_live_map.c - promises of segments/blocks/live_map.h and format/cell.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "../lib/forked_copy.h"

#include "segments/blocks/live_map.h"
#include "format/cell.h"

/* A live map as a collector would have it, which a child inherits. */
struct map {
	uint64_t *root;
	uint64_t *mid;
	uint64_t *leaf; /* of BASE; the next leaf lies behind it */
	uint64_t *levels;
	struct seg_header header;
};

enum { PAGE = 4096, LEAF_BYTES = 1 << CELL_LEAF_BITS };

#define BASE UINT64_C(0x7f1200300000)

static void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static struct map make_map(uint32_t version, uint8_t granule_bits)
{
	const size_t leaf_bytes = sizeof(uint64_t) << (CELL_LEAF_BITS - granule_bits);
	struct map m = {.root = pages(sizeof(uint64_t) << CELL_ROOT_BITS),
	    .mid = pages(sizeof(uint64_t) << CELL_MID_BITS),
	    .leaf = pages(2 * leaf_bytes),
	    .levels = pages(PAGE)};
	uint32_t i = BASE >> CELL_LEAF_BITS & ((1 << CELL_MID_BITS) - 1);

	m.root[BASE >> (CELL_LEAF_BITS + CELL_MID_BITS)] = at(m.mid);
	m.mid[i] = at(m.leaf);
	m.mid[i + 1] = at(m.leaf) + leaf_bytes;
	m.header = (struct seg_header){.live_root = at(m.root),
	    .live_root_bits = CELL_ROOT_BITS,
	    .live_mid_bits = CELL_MID_BITS,
	    .live_leaf_bits = CELL_LEAF_BITS,
	    .live_granule_bits = granule_bits,
	    .live_cell_version = version,
	    .spill_root = at(m.levels),
	    .first_id = 10};
	return m;
}

static uint64_t *cell_in(const struct map *m, uint64_t address)
{
	return &m->leaf[(address - BASE) >> m->header.live_granule_bits];
}

/* Enters a block as a collector of this version would. */
static void put(const struct map *m, uint64_t address, uint32_t site, uint64_t size, uint32_t birth)
{
	uint64_t *cell = cell_in(m, address);
	uint32_t class = size < CELL_LARGE ? (uint32_t)size : CELL_LARGE;

	*cell = m->header.live_cell_version == 1
	    ? (uint64_t)site << 38 | (uint64_t) class << 32 | birth
	    : cell_make(address, site, class, birth);
	if (class == CELL_LARGE)
		cell[1] = size;
}

struct seen {
	struct live_map_block blocks[16];
	size_t count;
};

static bool note(const struct live_map_block *b, void *arg)
{
	struct seen *s = arg;

	assert_true(s->count < 16);
	s->blocks[s->count++] = *b;
	return true;
}

/* `how` is the question; the answer is in its place. */
static int read_as(const struct map *m, struct seen *ret, struct live_map *how)
{
	struct forked_copy copy = forked_copy_start(NULL);
	int err;

	*ret = (struct seen){.count = 0};
	how->each = note;
	how->arg = ret;
	err = live_map_read(how, copy.pid, &m->header, UINT64_MAX);
	forked_copy_end(&copy);
	return err;
}

static int read_map(
    const struct map *m, bool wants_inherited, struct seen *ret, struct live_map *ret_map)
{
	*ret_map = (struct live_map){.wants_inherited = wants_inherited};
	return read_as(m, ret, ret_map);
}

TEST(a_cell_gives_back_what_was_put_into_it)
{
	static const uint32_t births[] = {0, 1, 1 << 30, CELL_BIRTH_MAX};
	static const uint32_t sites[] = {1, 77, (1 << SEG_SITE_BITS) - 1};

	for (uint64_t a = BASE; a < BASE + 128; a += CELL_ALIGN)
		for (size_t i = 0; i < 4 * 3 * 64; i++) {
			uint32_t birth = births[i % 4];
			uint32_t site = sites[i / 4 % 3];
			uint32_t size = (uint32_t)(i / 12);
			uint64_t c = cell_make(a, site, size, birth);

			assert_int_equal(cell_birth(c), birth);
			assert_int_equal(cell_site(c), site);
			assert_int_equal(cell_class(c), size);
			assert_int_equal(cell_address(c, a & ~UINT64_C(31), CELL_GRANULE_GLIBC), a);
			assert_int_equal(cell_address(c, a, CELL_GRANULE_OTHER), a);
		}
	assert_true(cell_is_for(BASE));
	assert_false(cell_is_for(BASE + 8));
	assert_false(cell_is_for(UINT64_C(1) << 47));
}

TEST(addresses_are_exact_at_both_halves_of_a_granule)
{
	struct map m = make_map(2, CELL_GRANULE_GLIBC);
	static const uint64_t where[] = {
	    BASE, BASE + 0x30, BASE + 0x40, BASE + 0x90, BASE + LEAF_BYTES - 16};
	static const uint64_t sizes[] = {24, 0, 63, 100, 1 << 30};
	struct live_map map;
	struct seen seen;

	for (uint32_t i = 0; i < 5; i++)
		put(&m, where[i], 10 + i, sizes[i], CELL_BIRTH_MAX - i);
	assert_int_equal(read_map(&m, false, &seen, &map), 0);
	assert_true(map.is_exact);
	assert_true(map.bytes_known);
	assert_false(map.is_partial);
	assert_int_equal(seen.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(seen.blocks[i].address, where[i]);
		assert_int_equal(seen.blocks[i].size, sizes[i]);
		assert_int_equal(seen.blocks[i].site, 10 + i);
		assert_int_equal(seen.blocks[i].birth, CELL_BIRTH_MAX - i);
		assert_false(seen.blocks[i].is_inherited);
	}
	live_map_release(&map);
}

/* The sizes of large ones are no cells, even if they look like one. */
TEST(a_list_has_the_blocks_and_no_counts)
{
	struct map m = make_map(2, CELL_GRANULE_GLIBC);
	static const uint64_t where[] = {
	    BASE, BASE + 0x40, BASE + 0x90, BASE + LEAF_BYTES - 32, BASE + LEAF_BYTES + 64};
	static const uint64_t sizes[] = {UINT64_C(77) << 38, 24, 100, UINT64_C(78) << 38, 63};
	struct live_map map = {.is_list = true};
	struct seen seen;

	for (uint32_t i = 0; i < 5; i++)
		put(&m, where[i], 10 + i, sizes[i], i % 2 ? 7 : 6);
	assert_int_equal(read_as(&m, &seen, &map), 0);
	assert_int_equal(seen.count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(seen.blocks[i].address, where[i]);
		assert_int_equal(seen.blocks[i].size, sizes[i]);
	}
	assert_int_equal(map.counts.count, 0);
	live_map_release(&map);
}

TEST(a_granule_of_16_bytes_has_its_address_from_its_place)
{
	struct map m = make_map(2, CELL_GRANULE_OTHER);
	struct live_map map;
	struct seen seen;

	put(&m, BASE + 0x20, 11, 8, 1);
	put(&m, BASE + 0x30, 12, 8, 2);
	/* a bit that contradicts its place moves no block */
	*cell_in(&m, BASE + 0x40) = cell_make(BASE + 0x50, 13, 8, 3);
	assert_int_equal(read_map(&m, false, &seen, &map), 0);
	assert_true(map.is_exact);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.blocks[0].address, BASE + 0x20);
	assert_int_equal(seen.blocks[1].address, BASE + 0x30);
	assert_int_equal(seen.blocks[2].address, BASE + 0x40);
	live_map_release(&map);
}

TEST(version_1_has_all_bits_of_a_birth_and_no_exact_addresses)
{
	struct map m = make_map(1, CELL_GRANULE_GLIBC);
	struct live_map map;
	struct seen seen;

	put(&m, BASE + 0x30, 11, 8, UINT32_C(0x80000005));
	assert_int_equal(read_map(&m, false, &seen, &map), 0);
	assert_false(map.is_exact);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.blocks[0].address, BASE + 0x20);
	assert_int_equal(seen.blocks[0].birth, UINT32_C(0x80000005));
	live_map_release(&map);
}

TEST(versions_to_come_are_not_guessed)
{
	struct map m = make_map(CELL_VERSION + 1, CELL_GRANULE_GLIBC);
	struct live_map map;
	struct seen seen;

	assert_int_equal(read_map(&m, false, &seen, &map), -ENOTSUP);
	live_map_release(&map);
	m.header.live_cell_version = 0;
	assert_int_equal(read_map(&m, false, &seen, &map), -ENOTSUP);
	live_map_release(&map);
}

TEST(inherited_blocks_come_where_they_are_wanted_and_are_not_counted)
{
	struct map m = make_map(2, CELL_GRANULE_GLIBC);
	struct live_map map;
	struct seen seen;

	put(&m, BASE + 0x30, 9, 8, 5);
	put(&m, BASE + LEAF_BYTES - 16, 9, 5000, 6);
	put(&m, BASE + 0x70, 10, 7, 1);
	assert_int_equal(read_map(&m, false, &seen, &map), 0);
	assert_int_equal(seen.count, 1);
	live_map_release(&map);
	assert_int_equal(read_map(&m, true, &seen, &map), 0);
	assert_int_equal(seen.count, 3);
	assert_true(seen.blocks[0].is_inherited);
	assert_false(seen.blocks[1].is_inherited);
	assert_int_equal(seen.blocks[2].size, 5000);
	assert_true(seen.blocks[2].is_inherited);
	assert_int_equal(map.counts.count, 1);
	live_map_release(&map);
}

TEST(spilled_blocks_have_the_address_they_have)
{
	struct map m = make_map(2, CELL_GRANULE_GLIBC);
	uint64_t *level = pages(PAGE * 8);
	struct cell_spilled *slots = (void *)((uint8_t *)level + CELL_SPILL_HEAD_BYTES);
	struct live_map map;
	struct seen seen;

	*level = CELL_SPILL_FIRST_BITS;
	m.levels[0] = at(level);
	slots[3] = (struct cell_spilled){
	    .address = BASE + 8, .cell = cell_make(0, 10, CELL_LARGE, 4), .size = 8};
	slots[4] = slots[3];
	slots[4].address = 1;         /* free again */
	slots[5].address = BASE + 24; /* claimed, not filled yet */
	slots[(1 << CELL_SPILL_FIRST_BITS) - 1] =
	    (struct cell_spilled){.address = UINT64_C(0xff00000000000018),
	        .cell = cell_make(0, 11, CELL_LARGE, CELL_BIRTH_MAX),
	        .size = 3};
	assert_int_equal(read_map(&m, false, &seen, &map), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.blocks[0].address, BASE + 8);
	assert_int_equal(seen.blocks[0].birth, 4);
	assert_int_equal(seen.blocks[1].address, UINT64_C(0xff00000000000018));
	assert_int_equal(seen.blocks[1].birth, CELL_BIRTH_MAX);
	live_map_release(&map);
}

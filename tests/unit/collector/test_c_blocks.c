/* test_c_blocks.c - promises of live.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "collector/heap/blocks_inline.h"
#include "collector/heap/blocks.h"

static void check_round_trip(uint64_t address, uint32_t site, uint64_t size, uint32_t birth)
{
	struct block_entry old, b;

	assert_true(blocks_put_slow(address, site, size, birth, &old));
	assert_int_equal(old.site, 0);
	b = blocks_take_slow(address);
	assert_int_equal(b.site, site);
	assert_int_equal(b.size, size);
	assert_int_equal(b.birth, birth);
	assert_int_equal(blocks_take_slow(address).site, 0);
}

TEST(every_size_comes_back_exactly)
{
	uint64_t size;

	for (size = 0; size < 300; size++)
		check_round_trip(0x7f0000000010, 5, size, 77);
	for (size = 1; size; size <<= 1) {
		check_round_trip(0x7f0000000010, (1 << 26) - 1, size, 0);
		check_round_trip(0x555500000020, 1, size - 1, CELL_BIRTH_MAX);
	}
}

TEST(blocks_at_the_border_of_a_leaf_keep_their_size)
{
	uint64_t border = UINT64_C(0x600000000000);
	int i;

	for (i = 1; i < 8; i++)
		check_round_trip(border - 16 * (uint64_t)i, 9, 4096, 3);
}

TEST(far_addresses_are_kept_too)
{
	check_round_trip(UINT64_C(0xff00000000001230), 4, 100, 5);
	check_round_trip(UINT64_C(1) << 47, 4, 8, 5);
}

TEST(a_block_that_was_never_taken_is_found_by_the_next_put)
{
	struct block_entry old;

	assert_true(blocks_put_slow(0x7f1000000040, 3, 500, 1, &old));
	assert_true(blocks_put_slow(0x7f1000000040, 4, 20, 2, &old));
	assert_int_equal(old.site, 3);
	assert_int_equal(old.size, 500);
	/* the size cell of the lost block is no block of its own */
	assert_int_equal(blocks_take_slow(0x7f1000000060).site, 0);
	assert_int_equal(blocks_take_slow(0x7f1000000040).site, 4);
}

TEST(neighbours_do_not_touch_each_other)
{
	struct block_entry old;
	uint64_t i;

	for (i = 0; i < 10000; i++) /* chunks of 32 bytes, odd multiples of 16 */
		assert_true(
		    blocks_put_slow(0x7f2000000010 + 32 * i, (uint32_t)i + 1, i % 25, 0, &old));
	for (i = 0; i < 10000; i++) {
		struct block_entry b = blocks_take_slow(0x7f2000000010 + 32 * i);

		assert_int_equal(b.site, i + 1);
		assert_int_equal(b.size, i % 25);
	}
}

static bool count_block(uint64_t address, struct block_entry b, void *arg)
{
	uint64_t *sums = arg;

	(void)address;
	sums[0]++;
	sums[1] += b.size;
	return true;
}

TEST(a_scan_sees_each_block_once)
{
	uint64_t sums[2] = {0, 0}, bytes = 0;
	struct block_entry old;
	uint64_t i;

	for (i = 0; i < 1000; i++) {
		assert_true(blocks_put_slow(0x7f3000000010 + 0x1000 * i, 2, i, 0, &old));
		bytes += i;
	}
	blocks_scan(count_block, sums);
	assert_int_equal(sums[0], 1000);
	assert_int_equal(sums[1], bytes);
	for (i = 0; i < 1000; i++)
		blocks_take_slow(0x7f3000000010 + 0x1000 * i);
}

TEST(tiny_blocks_of_other_allocators_share_no_cell)
{
	struct block_entry old;
	uint64_t i;

	blocks_init(false);
	for (i = 0; i < 20000; i++)
		assert_true(
		    blocks_put_slow(0x7f4000000000 + 8 * i, (uint32_t)i + 1, i % 9, 7, &old));
	assert_int_equal(blocks_spilled, 10000); /* those that are not aligned */
	for (i = 0; i < 20000; i++) {
		struct block_entry b = blocks_take_slow(0x7f4000000000 + 8 * i);

		assert_int_equal(b.site, i + 1);
		assert_int_equal(b.size, i % 9);
	}
	assert_int_equal(blocks_spilled, 0);
	blocks_init(true);
}

/*
 * Two blocks that could share a cell of the cache: what is not aligned must
 * not be taken for its neighbour, by the fast forms either.
 */
TEST(an_unaligned_address_is_no_other_block)
{
	const uint64_t at = 0x7f6000000040;
	struct blocks_cache cache = {0};
	struct block_entry old;

	assert_true(blocks_put_slow(at, 3, 20, 1, &old));
	assert_int_equal(blocks_find(&cache, at).block.site, 3); /* remembered */
	assert_int_equal(blocks_find(&cache, at + 8).block.site, 0);
	assert_int_equal(blocks_take(&cache, at + 8).site, 0);
	assert_false(blocks_put_fast(&cache, at + 8, 4, 8, 2));
	assert_true(blocks_put_slow(at + 8, 4, 8, 2, &old));
	assert_int_equal(old.site, 0);
	assert_int_equal(blocks_take(&cache, at + 8).site, 4);
	assert_int_equal(blocks_take(&cache, at).site, 3);
}

struct found {
	uint64_t addresses[8];
	uint32_t births[8];
	size_t count;
};

static bool note_block(uint64_t address, struct block_entry b, void *arg)
{
	struct found *f = arg;

	assert_true(f->count < 8);
	f->addresses[f->count] = address;
	f->births[f->count++] = b.birth;
	return true;
}

TEST(a_scan_gives_the_address_of_each_block)
{
	/* both halves of a granule, large and small, at the end of a leaf */
	static const uint64_t all[] = {0x7f7000000000, 0x7f7000000030, 0x7f70000000c0,
	    0x7f70000ffff0, 0x7f7000200000, 0x7f70002fffe0};
	static const uint64_t sizes[] = {8, 62, 63, 4096, 1, 100};
	struct blocks_cache cache = {0};
	struct found found = {.count = 0};
	struct block_entry old;

	for (size_t i = 0; i < 6; i++) {
		if (!blocks_put_fast(&cache, all[i], 7, sizes[i], CELL_BIRTH_MAX))
			assert_true(blocks_put_slow(all[i], 7, sizes[i], CELL_BIRTH_MAX, &old));
	}
	blocks_scan(note_block, &found);
	assert_int_equal(found.count, 6);
	for (size_t i = 0; i < 6; i++) {
		struct block_entry b = blocks_take_slow(all[i]);

		assert_int_equal(found.addresses[i], all[i]);
		assert_int_equal(found.births[i], CELL_BIRTH_MAX);
		assert_int_equal(b.birth, CELL_BIRTH_MAX);
		assert_int_equal(b.size, sizes[i]);
	}
}

/* A large block at 0x40, freed past us, and then others where it was. */
TEST(blocks_that_are_overlapped_come_out)
{
	const uint64_t at = 0x7f5000000040;
	struct blocks_cache cache = {0};
	struct block_entry old;

	assert_true(blocks_put_slow(at, 3, 500, 1, &old));
	assert_false(blocks_put_fast(&cache, at + 32, 4, 20, 2));
	old = blocks_take_overlapped(at + 32, 20);
	assert_int_equal(old.site, 3);
	assert_int_equal(old.size, 500);
	assert_int_equal(blocks_take_overlapped(at + 32, 20).site, 0);
	assert_true(blocks_put_fast(&cache, at + 32, 4, 20, 2));

	assert_false(blocks_put_fast(&cache, at, 5, 600, 3));
	assert_int_equal(blocks_take_overlapped(at, 20).site, 0);
	old = blocks_take_overlapped(at, 600);
	assert_int_equal(old.site, 4);
	assert_int_equal(old.size, 20);
	assert_int_equal(blocks_take_overlapped(at, 600).site, 0);
	assert_true(blocks_put_fast(&cache, at, 5, 600, 3));
	assert_int_equal(blocks_take_slow(at).size, 600);
	assert_int_equal(blocks_take_slow(at + 32).site, 0);
}

static int start(void **state)
{
	(void)state;
	blocks_init(true);
	return 0;
}

TEST_GROUP(start, NULL);

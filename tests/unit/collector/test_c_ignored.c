/* test_c_ignored.c - promises of collector/heap/resizing.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "collector/heap/resizing.h"
#include "collector/heap/blocks.h"
#include "collector/segment/segment.h"

#define BASE UINT64_C(0x7f8000000000)

/* Entries that hold for a block as it is now. */
static uint64_t holding(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < IGNORED_LEVELS; i++) {
		const struct level *l = ignored_levels[i];
		const struct ignored_entry *e = (const void *)(l + 1);

		for (uint64_t k = 0; l && k < UINT64_C(1) << l->bits; k++)
			n += e[k].address && blocks_peek(e[k].address) == e[k].cell;
	}
	return n;
}

static void put(uint64_t address, uint32_t site, uint64_t size, uint32_t birth)
{
	struct block_entry old;

	assert_true(blocks_put_slow(address, site, size, birth, &old));
}

TEST(a_block_is_ignored_until_it_is_freed)
{
	put(BASE, 3, 20, 1);
	put(BASE + 0x50, 3, 5000, 1);
	ignored_add(BASE);
	ignored_add(BASE);
	ignored_add(BASE + 0x50);
	assert_int_equal(holding(), 2);
	blocks_take_slow(BASE);
	assert_int_equal(holding(), 1);
	put(BASE, 3, 20, 2); /* another block at its place */
	assert_int_equal(holding(), 1);
	ignored_add(BASE);
	assert_int_equal(holding(), 2);
	blocks_take_slow(BASE);
	blocks_take_slow(BASE + 0x50);
}

TEST(what_is_no_block_is_counted)
{
	uint64_t *n = &segment.header->counts[SEG_IGNORED_UNKNOWN];

	put(BASE + 0x1000, 3, 20, 1);
	put(BASE + 0x1040, 3, 500, 1);
	ignored_add(BASE + 0x1010); /* the other half of its granule */
	ignored_add(BASE + 0x1001);
	ignored_add(BASE + 0x1060); /* the size of a large one */
	ignored_add(UINT64_C(1) << 63);
	ignored_add(1);
	assert_int_equal(*n, 5);
	assert_int_equal(holding(), 0);
	blocks_take_slow(BASE + 0x1000);
	blocks_take_slow(BASE + 0x1040);
}

/* More blocks, one after the other, than there are entries in all. */
TEST(entries_of_freed_blocks_are_used_again)
{
	uint64_t i;

	for (i = 0; i < 600000; i++) {
		put(BASE + 0x100000 + 32 * i, 3, 20, 1);
		ignored_add(BASE + 0x100000 + 32 * i);
		assert_int_equal(segment.header->counts[SEG_LOST_IGNORED], 0);
		blocks_take_slow(BASE + 0x100000 + 32 * i);
	}
	assert_null(ignored_levels[1]); /* the first is enough */
}

TEST(what_finds_no_room_is_counted)
{
	uint64_t *lost = &segment.header->counts[SEG_LOST_IGNORED];
	uint64_t i;

	for (i = 0; i < 400000; i++) {
		put(BASE + 0x8000000 + 32 * i, 3, 20, 1);
		ignored_add(BASE + 0x8000000 + 32 * i);
	}
	assert_true(*lost > 0);
	assert_int_equal(holding() + *lost, 400000);
}

static int start(void **state)
{
	(void)state;
	blocks_init(true);
	return 0;
}

TEST_GROUP(start, NULL);

/* test_c_own_memory.c - promises of collector/segment/mem.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "collector/segment/mem.h"
#include "collector/segment/segment.h"

#define AT(page) ((const void *)(uintptr_t)(UINT64_C(0x100000000) + (page)*4096))

static int start_over(void **state)
{
	(void)state;
	memset(ours_table, 0, sizeof(ours_table));
	return 0;
}

static size_t used(void)
{
	size_t n = 0;

	for (size_t i = 0; i < OWN_MEMORY_MAX; i++) {
		assert_int_equal(ours_table[i].sequence % 2, 0);
		n += ours_table[i].kind != OWN_MEMORY_NONE;
	}
	return n;
}

/* Is the page in the table? */
static bool has(uint64_t page)
{
	uint64_t at = (uint64_t)(uintptr_t)AT(page);

	for (size_t i = 0; i < OWN_MEMORY_MAX; i++)
		if (ours_table[i].kind != OWN_MEMORY_NONE && ours_table[i].start <= at &&
		    at < ours_table[i].end)
			return true;
	return false;
}

TEST_WITH(what_is_added_is_there_in_whole_pages, start_over, NULL)
{
	own_memory_add((const char *)AT(5) + 100, 4096, OWN_MEMORY_FOR_NOW);
	assert_false(has(4));
	assert_true(has(5));
	assert_true(has(6));
	assert_false(has(7));
	assert_int_equal(used(), 1);
}

TEST_WITH(neighbours_that_stay_are_one_entry, start_over, NULL)
{
	own_memory_add(AT(10), 4096, OWN_MEMORY_FOREVER);
	own_memory_add(AT(9), 4096, OWN_MEMORY_FOREVER);
	own_memory_add(AT(11), 8192, OWN_MEMORY_FOREVER);
	assert_int_equal(used(), 1);
	assert_true(has(9) && has(10) && has(12));
	assert_false(has(8) || has(13));
	/* one that may go is not joined with them */
	own_memory_add(AT(13), 4096, OWN_MEMORY_FOR_NOW);
	assert_int_equal(used(), 2);
	own_memory_remove(AT(13), 4096);
	assert_false(has(13));
	assert_true(has(12));
}

TEST_WITH(what_stays_cannot_be_removed, start_over, NULL)
{
	own_memory_add(AT(10), 4096, OWN_MEMORY_FOREVER);
	own_memory_remove(AT(0), 100 * 4096);
	assert_true(has(10));
}

TEST_WITH(parts_of_ranges_go, start_over, NULL)
{
	uint64_t i;

	own_memory_add(AT(10), 10 * 4096, OWN_MEMORY_FOR_NOW);
	own_memory_add(AT(30), 10 * 4096, OWN_MEMORY_FOR_NOW);
	own_memory_remove(AT(13), 2 * 4096); /* a hole */
	for (i = 9; i < 21; i++)
		assert_int_equal(has(i), i >= 10 && i < 20 && i != 13 && i != 14);
	own_memory_remove(AT(19), 13 * 4096); /* the end of one, and a beginning */
	assert_true(has(18));
	assert_false(has(19) || has(31));
	assert_true(has(32));
	own_memory_remove(AT(0), 100 * 4096);
	assert_int_equal(used(), 0);
}

TEST_WITH(entries_are_used_again, start_over, NULL)
{
	int i;

	for (i = 0; i < 3 * OWN_MEMORY_MAX; i++) {
		own_memory_add(AT(2), 4096, OWN_MEMORY_FOR_NOW);
		own_memory_remove(AT(2), 4096);
	}
	assert_int_equal(used(), 0);
	assert_int_equal(ours_table[1].sequence, 0);
	assert_int_equal(segment.header->counts[SEG_LOST_RANGES], 0);
}

TEST_WITH(what_finds_no_room_is_counted, start_over, NULL)
{
	uint64_t i;

	for (i = 0; i < OWN_MEMORY_MAX + 3; i++)
		own_memory_add(AT(2 * i), 4096, OWN_MEMORY_FOREVER);
	assert_int_equal(segment.header->counts[SEG_LOST_RANGES], 3);
	segment.header->counts[SEG_LOST_RANGES] = 0;
	/* a neighbour needs no entry */
	own_memory_add(AT(1), 4096, OWN_MEMORY_FOREVER);
	assert_int_equal(segment.header->counts[SEG_LOST_RANGES], 0);
	assert_true(has(1));
}

static bool is_ours(const void *p)
{
	uint64_t at = (uint64_t)(uintptr_t)p;

	for (size_t i = 0; i < OWN_MEMORY_MAX; i++)
		if (ours_table[i].kind != OWN_MEMORY_NONE && ours_table[i].start <= at &&
		    at < ours_table[i].end)
			return true;
	return false;
}

TEST_WITH(private_memory_and_the_library_are_in_it, start_over, NULL)
{
	int local = 0;
	char *p;

	mem_init(UINT64_MAX);
	p = mem_alloc(3 << 20);
	assert_non_null(p);
	assert_true(is_ours(p));
	assert_true(is_ours(p + (3 << 20) - 1));
	assert_false(is_ours(ours_table));
	own_memory_add_library();
	assert_true(is_ours(ours_table));
	assert_false(is_ours(&local));
}

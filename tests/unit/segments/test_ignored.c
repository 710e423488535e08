/* test_ignored.c - promises of segments/blocks/our_ranges.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "../lib/forked_copy.h"

#include "segments/blocks/our_ranges.h"
#include "format/cell.h"
#include "format/seg_ignored.h"

enum { PAGE = 4096, ROOM = 8 };

/* Levels that a child inherits. */
struct table {
	uint64_t *roots;
	struct {
		uint64_t bits;
		struct ignored_entry entries[1 << IGNORED_FIRST_BITS];
	} * first;
	struct seg_header header;
};

static void *pages(size_t count)
{
	void *p =
	    mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static struct table make_table(void)
{
	struct table t = {.roots = pages(1), .first = pages(2)};

	t.roots[0] = (uint64_t)(uintptr_t)t.first;
	t.first->bits = IGNORED_FIRST_BITS;
	t.header = (struct seg_header){
	    .ignored_root = (uint64_t)(uintptr_t)t.roots, .live_cell_version = CELL_VERSION};
	return t;
}

struct seen {
	struct ignored_block blocks[ROOM];
	size_t count;
};

static int note(const struct ignored_block *b, void *arg)
{
	struct seen *s = arg;

	if (s->count == ROOM)
		return -ENOMEM;
	s->blocks[s->count++] = *b;
	return 0;
}

static int read_table(const struct table *t, struct seen *ret)
{
	struct fault why = {""};
	struct forked_copy copy = forked_copy_start(NULL);
	int err;

	*ret = (struct seen){.count = 0};
	err = ignored_blocks_read(copy.pid, NULL, &t->header, note, ret, &why);
	forked_copy_end(&copy);
	return err;
}

TEST(entries_are_told_with_site_and_birth)
{
	struct table t = make_table();
	struct seen seen;

	t.first->entries[0] =
	    (struct ignored_entry){0x7f0000000010, cell_make(0x7f0000000010, 5, 20, 77)};
	t.first->entries[9].address = 0x7f0000000040; /* being written */
	t.first->entries[255] = (struct ignored_entry){8, cell_make(0, 6, CELL_LARGE, 1)};
	assert_int_equal(read_table(&t, &seen), 0);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.blocks[0].address, 0x7f0000000010);
	assert_int_equal(seen.blocks[0].site, 5);
	assert_int_equal(seen.blocks[0].birth, 77);
	assert_int_equal(seen.blocks[1].address, 8);
	assert_int_equal(seen.blocks[1].site, 6);
}

TEST(no_level_is_no_block)
{
	struct table t = make_table();
	struct seen seen;

	t.roots[0] = 0;
	assert_int_equal(read_table(&t, &seen), 0);
	assert_int_equal(seen.count, 0);
}

TEST(other_collectors_and_levels_are_refused)
{
	struct table t = make_table();
	struct seen seen;

	t.first->bits = 60;
	assert_int_equal(read_table(&t, &seen), -ENOTSUP);
	t.first->bits = IGNORED_FIRST_BITS;
	t.roots[1] = UINT64_C(0xfffffffffffff008); /* nothing is there */
	assert_true(read_table(&t, &seen) < 0);
	t.roots[1] = (uint64_t)(uintptr_t)t.first; /* not as large */
	assert_int_equal(read_table(&t, &seen), -ENOTSUP);
	t.header.ignored_root = 0;
	assert_int_equal(read_table(&t, &seen), -ENOTSUP);
}

TEST(who_wants_no_more_is_not_asked_again)
{
	struct table t = make_table();
	struct seen seen;

	for (int i = 0; i < 100; i++)
		t.first->entries[i] = (struct ignored_entry){0x1000, cell_make(0x1000, 5, 20, 77)};
	assert_int_equal(read_table(&t, &seen), -ENOMEM);
	assert_int_equal(seen.count, ROOM);
}

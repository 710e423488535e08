/* test_moving.c - promises of analysis/leaks/owned.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "../lib/forked_copy.h"

#include "analysis/leaks/owned.h"

static struct resizing_page *make_pages(size_t count)
{
	struct resizing_page *p = mmap(
	    NULL, count * sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	for (size_t i = 0; i + 1 < count; i++)
		p[i].next = (uint64_t)(uintptr_t)&p[i + 1];
	return p;
}

static int read_notes(uint64_t root, struct moving *ret)
{
	const struct seg_header h = {.moving_root = root};
	struct forked_copy copy = forked_copy_start(NULL);
	struct fault why = {""};
	struct foreign *memory;
	int err = foreign_open(copy.pid, NULL, &memory, &why);

	assert_int_equal(err, 0);
	err = moving_blocks_read(memory, &h, ret, &why);
	foreign_close(memory);
	forked_copy_end(&copy);
	return err;
}

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

TEST(notes_of_all_pages_that_were_used_are_listed)
{
	struct resizing_page *p = make_pages(3);
	struct moving m = {0};

	p[0].notes[0] = (struct resizing_note){.count = 1};
	p[0].notes[5].address = 8; /* never used: nonsense */
	p[2].notes[RESIZING_NOTES - 1] =
	    (struct resizing_note){.address = 0x1000, .size = 64, .to = 0x2000, .count = 3};
	assert_int_equal(read_notes(at(p), &m), 0);
	assert_int_equal(m.count, 2);
	assert_int_equal(m.notes[0].address, 0);
	assert_int_equal(m.notes[1].address, 0x1000);
	assert_int_equal(m.notes[1].to, 0x2000);
	assert_true(moving_blocks_any(&m));
	moving_blocks_release(&m);
}

TEST(a_block_that_was_put_back_is_not_being_resized)
{
	struct resizing_page *p = make_pages(1);
	struct moving m = {0};

	p->notes[1] = (struct resizing_note){.size = 64, .to = 8, .count = 9};
	assert_int_equal(read_notes(at(p), &m), 0);
	assert_int_equal(m.count, 1);
	assert_false(moving_blocks_any(&m));
	p->notes[2] = (struct resizing_note){.address = 16, .count = 1};
	assert_int_equal(read_notes(at(p), &m), 0);
	assert_true(moving_blocks_any(&m)); /* its size is not yet known */
	moving_blocks_release(&m);
}

TEST(any_change_of_a_note_is_seen)
{
	struct resizing_page *p = make_pages(1);
	struct moving before = {0}, after = {0};

	assert_true(moving_blocks_is_same(&before, &after));
	p->notes[1] = (struct resizing_note){.size = 64, .count = 1};
	assert_int_equal(read_notes(at(p), &before), 0);
	assert_int_equal(read_notes(at(p), &after), 0);
	assert_true(moving_blocks_is_same(&before, &after));
	p->notes[1].count++; /* to and back again */
	assert_int_equal(read_notes(at(p), &after), 0);
	assert_false(moving_blocks_is_same(&before, &after));
	p->notes[1].count--;
	p->notes[2].count = 1;
	assert_int_equal(read_notes(at(p), &after), 0);
	assert_false(moving_blocks_is_same(&before, &after));
	moving_blocks_release(&before);
	moving_blocks_release(&after);
}

TEST(made_up_lists_of_pages_come_to_an_end)
{
	static const uint64_t nowhere[] = {
	    0, 8, 0x1000, UINT64_MAX - 4095, UINT64_C(1) << 47, (UINT64_C(1) << 47) - 4096};
	struct resizing_page *p = make_pages(2);
	struct moving m = {0};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		assert_int_equal(read_notes(nowhere[i], &m), 0);
		assert_int_equal(m.count, 0);
	}
	p[0].notes[0].count = 1;
	p[1].next = at(p); /* a circle */
	assert_int_equal(read_notes(at(p), &m), 0);
	assert_int_equal(m.count, MOVING_PAGES_MAX / 2);
	moving_blocks_release(&m);
}

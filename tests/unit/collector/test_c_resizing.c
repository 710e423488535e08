/* test_c_resizing.c - promises of collector/heap/resizing.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "collector/segment/mem.h"
#include "collector/heap/resizing.h"

/* Its number in the list of pages; fails if it is not there. */
static uint64_t place_of(const struct resizing_note *n)
{
	const struct resizing_page *p = &resizing_first;
	uint64_t first = 0;

	for (; p; first += RESIZING_NOTES) {
		if (n >= p->notes && n < p->notes + RESIZING_NOTES)
			return first + (uint64_t)(n - p->notes);
		p = (const struct resizing_page *)(uintptr_t)p->next;
	}
	fail();
	return 0;
}

TEST(each_note_is_one_of_its_own_and_can_be_found)
{
	enum { NOTES = 3 * RESIZING_NOTES };

	for (uint64_t i = RESIZING_LENDABLE; i < NOTES; i++)
		assert_int_equal(place_of(resizing_note_new()), i);
}

TEST(a_note_has_the_block_until_it_ends)
{
	struct resizing_note *n = resizing_note_new();
	char old, new;

	resizing_begin(n, &old);
	assert_int_equal(n->size, 0);
	resizing_taken(n, 5);
	assert_int_equal(n->address, (uint64_t)(uintptr_t)&old);
	assert_int_equal(n->size, 5);
	assert_int_equal(n->to, 0);
	resizing_moved(n, &new, 6);
	assert_int_equal(n->to, (uint64_t)(uintptr_t) & new);
	assert_int_equal(n->to_size, 6);
	resizing_end(n);
	assert_int_equal(n->address, 0);
	resizing_begin(n, &new);
	assert_int_equal(n->size, 0);
	assert_int_equal(n->to, 0);
	assert_int_equal(n->count, 2);
	resizing_end(n);
}

TEST(threads_without_a_note_get_one_for_each_block)
{
	struct resizing_note *lent[RESIZING_LENDABLE], *again;
	char old;

	for (int i = 1; i < RESIZING_LENDABLE; i++) {
		lent[i] = resizing_note_lend();
		assert_int_equal(place_of(lent[i]), i);
		resizing_begin(lent[i], &old);
	}
	/* all others have to share one, which is never given away */
	for (int i = 0; i < 3; i++) {
		again = resizing_note_lend();
		assert_int_equal(place_of(again), 0);
		resizing_begin(again, &old);
		resizing_end(again);
	}
	resizing_end(lent[7]);
	assert_ptr_equal(resizing_note_lend(), lent[7]);
	resizing_begin(lent[7], &old);
	for (int i = 1; i < RESIZING_LENDABLE; i++)
		resizing_end(lent[i]);
}

TEST(the_note_of_a_thread_stays_its_own)
{
	struct resizing_note *n = resizing_note_new();
	char old;

	for (int i = 0; i < 3; i++) {
		resizing_begin(n, &old);
		resizing_end(n);
	}
	assert_int_equal(n->lent, 0);
	assert_ptr_not_equal(resizing_note_new(), n);
}

static int start(void **state)
{
	(void)state;
	mem_init(64 << 20);
	return 0;
}

TEST_GROUP(start, NULL);

/* test_c_moving.c - promises of collector/heap/moving.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/segment/mem.h"
#include "collector/heap/moving.h"

/* Its number in the list of pages; fails if it is not there. */
static uint64_t place_of(const struct moving_note *n)
{
	const struct moving_page *p = &moving_first;
	uint64_t first = 0;

	for (; p; first += MOVING_NOTES) {
		if (n >= p->notes && n < p->notes + MOVING_NOTES)
			return first + (uint64_t)(n - p->notes);
		p = (const struct moving_page *)(uintptr_t)p->next;
	}
	fail();
	return 0;
}

static void each_note_is_one_of_its_own_and_can_be_found(void **state)
{
	enum { NOTES = 3 * MOVING_NOTES };

	(void)state;
	for (uint64_t i = MOVING_LENDABLE; i < NOTES; i++)
		assert_int_equal(place_of(moving_note_new()), i);
}

static void a_note_has_the_block_until_it_ends(void **state)
{
	struct moving_note *n = moving_note_new();
	char old, new;

	(void)state;
	moving_begin(n, &old);
	assert_int_equal(n->size, 0);
	moving_taken(n, 5);
	assert_int_equal(n->address, (uint64_t)(uintptr_t)&old);
	assert_int_equal(n->size, 5);
	assert_int_equal(n->to, 0);
	moving_moved(n, &new, 6);
	assert_int_equal(n->to, (uint64_t)(uintptr_t) & new);
	assert_int_equal(n->to_size, 6);
	moving_end(n);
	assert_int_equal(n->address, 0);
	moving_begin(n, &new);
	assert_int_equal(n->size, 0);
	assert_int_equal(n->to, 0);
	assert_int_equal(n->count, 2);
	moving_end(n);
}

static void threads_without_a_note_get_one_for_each_block(void **state)
{
	struct moving_note *lent[MOVING_LENDABLE], *again;
	char old;

	(void)state;
	for (int i = 1; i < MOVING_LENDABLE; i++) {
		lent[i] = moving_note_lend();
		assert_int_equal(place_of(lent[i]), i);
		moving_begin(lent[i], &old);
	}
	/* all others have to share one, which is never given away */
	for (int i = 0; i < 3; i++) {
		again = moving_note_lend();
		assert_int_equal(place_of(again), 0);
		moving_begin(again, &old);
		moving_end(again);
	}
	moving_end(lent[7]);
	assert_ptr_equal(moving_note_lend(), lent[7]);
	moving_begin(lent[7], &old);
	for (int i = 1; i < MOVING_LENDABLE; i++)
		moving_end(lent[i]);
}

static void the_note_of_a_thread_stays_its_own(void **state)
{
	struct moving_note *n = moving_note_new();
	char old;

	(void)state;
	for (int i = 0; i < 3; i++) {
		moving_begin(n, &old);
		moving_end(n);
	}
	assert_int_equal(n->lent, 0);
	assert_ptr_not_equal(moving_note_new(), n);
}

static int start(void **state)
{
	(void)state;
	mem_init(64 << 20);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_note_is_one_of_its_own_and_can_be_found),
	    cmocka_unit_test(a_note_has_the_block_until_it_ends),
	    cmocka_unit_test(threads_without_a_note_get_one_for_each_block),
	    cmocka_unit_test(the_note_of_a_thread_stays_its_own),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}

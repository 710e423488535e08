/* test_c_moving.c - promises of collector/moving.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/mem.h"
#include "collector/moving.h"

/* Its number in the list of pages; fails if it is not there. */
static uint64_t
place_of(const struct moving_note *n)
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

static void
each_note_is_one_of_its_own_and_can_be_found(void **state)
{
	enum { NOTES = 3 * MOVING_NOTES };

	(void)state;
	for (uint64_t i = 1; i < NOTES; i++)
		assert_int_equal(place_of(moving_note_new()), i);
}

static void
a_note_has_the_block_until_it_ends(void **state)
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

static int
start(void **state)
{
	(void)state;
	mem_init(64 << 20);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_note_is_one_of_its_own_and_can_be_found),
	    cmocka_unit_test(a_note_has_the_block_until_it_ends),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}

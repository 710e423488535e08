/* test.h - TEST(name) { ... } is a case of a unit test, which registers itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_TEST_H
#define SEEP_TESTS_TEST_H

#include "base/std.h"

#include <setjmp.h>

#include <cmocka.h> /* needs those above */

/*
 * A test program is one file: main() in test.c runs its cases in the order of the file, through
 * cmocka. `state` is what a setup left there; most cases need none.
 */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* With functions that run before and after the case, whether it fails or not; either may be NULL. */
#define TEST_WITH(name, setup, teardown) \
	static void name(void **state); \
	static const struct CMUnitTest test_case_##name TEST_CASE = { \
	    #name, name, setup, teardown, NULL}; \
	static void name(__attribute__((unused)) void **state)

/* Before the first and after the last case of the file; what the first one leaves in `state`, all cases find. */
#define TEST_GROUP(setup, teardown) const struct test_group test_group = {setup, teardown}

struct test_group {
	CMFixtureFunction setup, teardown;
};
extern const struct test_group test_group;

/* An array in a section of its own: nothing between its elements, and none before an earlier one. */
#define TEST_CASE __attribute__((section("test_cases"), aligned(sizeof(void *)), used, no_reorder))

#endif

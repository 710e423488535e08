/* test.c - main() of all unit tests. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

/* the linker's names for the two ends of the section */
extern const struct CMUnitTest __start_test_cases[], __stop_test_cases[];

/* of a file without TEST_GROUP */
const struct test_group test_group __attribute__((weak)) = {NULL, NULL};

/* With an argument, only the cases whose names match it, as in *_is_counted. */
int main(int argc, char **argv)
{
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return _cmocka_run_group_tests("tests", __start_test_cases,
	    (size_t)(__stop_test_cases - __start_test_cases), test_group.setup,
	    test_group.teardown);
}

/* test_units.c - sizes and times as users write them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "kit/words/words.h"

static uint64_t size_of(const char *text)
{
	uint64_t n = UINT64_MAX;

	assert_true(units_size(text, strlen(text), &n));
	return n;
}

static uint64_t time_of(const char *text)
{
	uint64_t ns = UINT64_MAX;

	assert_true(units_time(text, strlen(text), &ns));
	return ns;
}

TEST(sizes_have_the_units_of_gnu_tools)
{
	assert_int_equal(size_of("4096"), 4096);
	assert_int_equal(size_of("1.5MiB"), 3 << 19);
	assert_int_equal(size_of("10MB"), 10000000);
	assert_int_equal(size_of("512k"), 512 << 10);
	assert_int_equal(size_of("4503599627370497"), 4503599627370497);
}

/* 4.35 * 1e9 is a little less than 4350000000. */
TEST(decimal_times_are_exact)
{
	char text[64];

	for (int ms = 10; ms < 200000; ms += 10) {
		(void)snprintf(text, sizeof(text), "%d.%02ds", ms / 1000, ms % 1000 / 10);
		assert_int_equal(time_of(text), ms * UINT64_C(1000000));
	}
	assert_int_equal(time_of("0.07ms"), 70000);
	assert_int_equal(time_of("0"), 0);
}

TEST(other_texts_are_refused)
{
	static const char *const bad[] = {"", "s", ".5s", "1.2.3s", "1", "-1s", "1 s", "1e3s",
	    "0x10s", "99999999999999999999s", "inf", "nan"};
	uint64_t ns = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(units_time(bad[i], strlen(bad[i]), &ns));
	assert_false(units_size("9.3e18", 6, &ns));
	assert_false(units_size("9223372036854775808", 19, &ns));
	assert_int_equal(ns, 7);
}

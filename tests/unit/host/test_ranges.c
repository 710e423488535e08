/* test_ranges.c - sets of addresses against a bitmap. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "host/memory/address_ranges.h"

enum { SPAN = 200 };

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 33;
}

static void fill(struct ranges *r, uint8_t map[SPAN], uint64_t *seed)
{
	uint64_t n = draw(seed) % 12;

	memset(map, 0, SPAN);
	while (n-- > 0) {
		uint64_t a = draw(seed) % SPAN, b = draw(seed) % SPAN;

		assert_int_equal(address_ranges_add(r, a, b), 0);
		if (a < b)
			memset(map + a, 1, b - a);
	}
	address_ranges_settle(r);
}

static void check(const struct ranges *r, const uint8_t map[SPAN])
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < SPAN; i++) {
		assert_int_equal(address_ranges_hold(r, i), map[i]);
		sum += map[i];
	}
	assert_int_equal(address_ranges_bytes(r), sum);
	for (i = 1; i < r->count; i++)
		assert_true(r->at[i - 1].end < r->at[i].start);
}

TEST(random_sets_are_as_their_bitmaps)
{
	uint8_t a[SPAN], b[SPAN];
	uint64_t seed = 7;
	int round;

	for (round = 0; round < 20000; round++) {
		struct ranges x = {0}, y = {0}, z = {0};
		size_t i;

		fill(&x, a, &seed);
		fill(&y, b, &seed);
		check(&x, a);
		check(&y, b);
		assert_int_equal(address_ranges_subtract(&x, &y, &z), 0);
		for (i = 0; i < SPAN; i++)
			a[i] = a[i] && !b[i];
		check(&z, a);
		address_ranges_release(&x);
		address_ranges_release(&y);
		address_ranges_release(&z);
	}
}

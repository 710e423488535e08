/* test_keyed.c - items by number: found, replaced, removed, whatever the order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "kit/data/dict.h"

struct item {
	uint64_t key, value;
};

enum { KEYS = 3000, STEPS = 200000 };

TEST(nothing_is_found_in_an_empty_one)
{
	struct keyed k = {.item_bytes = sizeof(struct item)};

	assert_null(keyed_find(&k, 1));
	assert_null(keyed_find(&k, 0));
	keyed_release(&k);
}

TEST(items_are_as_in_an_array_after_any_puts_and_removals)
{
	static uint64_t values[KEYS + 1];
	struct keyed k = {.item_bytes = sizeof(struct item)};
	unsigned seed = 7;
	size_t count = 0;

	for (uint64_t i = 1; i <= STEPS; i++) {
		uint64_t key = 1 + (uint64_t)rand_r(&seed) % KEYS;
		struct item *found = keyed_find(&k, key);

		assert_int_equal(found != NULL, values[key] != 0);
		if (found) {
			assert_int_equal(found->key, key);
			assert_int_equal(found->value, values[key]);
		}
		if (found && rand_r(&seed) % 2) {
			keyed_remove(&k, found);
			values[key] = 0;
			count--;
		} else {
			struct item *put = keyed_put(&k, key);

			assert_non_null(put);
			assert_int_equal(put->key, key);
			assert_int_equal(put->value, values[key]);
			count += !found;
			values[key] = put->value = i;
		}
		assert_int_equal(k.count, count);
	}
	for (uint64_t key = 1; key <= KEYS; key++) {
		const struct item *found = keyed_find(&k, key);

		assert_int_equal(found ? found->value : 0, values[key]);
	}
	keyed_release(&k);
	assert_null(keyed_find(&k, 1));
}

/* test_c_sites_index.c - what is in an index is found, also while it grows. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "test.h"
#include "base/attr.h"
#include "base/hash.h"
#include "collector/heap/sites_index.h"

enum { ENTRIES = 200000, THREADS = 4 };

static struct index ix;
static int ready, missed;

static int start(void **state)
{
	(void)state;
	ready = missed = 0;
	return sites_index_init(&ix) ? 0 : -1;
}

static uint64_t hash_of(uint32_t number)
{
	return hash_finish(hash_mix(hash_word(number), 7));
}

static bool is_number(const void *key, uint32_t number)
{
	return number == *(const uint32_t *)key;
}

static uint32_t find(uint32_t number)
{
	return sites_index_find(&ix, hash_of(number), is_number, &number);
}

TEST_WITH(entries_are_found_whatever_the_size, start, NULL)
{
	uint32_t n, i;

	for (n = 1; n <= ENTRIES; n++) {
		assert_int_equal(find(n), 0);
		assert_true(sites_index_insert(&ix, hash_of(n), n));
		for (i = n; i; i /= 2)
			assert_int_equal(find(i), i);
	}
	for (n = 1; n <= ENTRIES; n++)
		assert_int_equal(find(n), n);
	assert_int_equal(find(ENTRIES + 1), 0);
}

/* A look-up in vain reads one level: nearly always, and always in the end. */
TEST_WITH(old_levels_are_left, start, NULL)
{
	uint32_t n, twice = 0;

	for (n = 1; n <= ENTRIES; n++) {
		assert_true(sites_index_insert(&ix, hash_of(n), n));
		twice += ix.oldest != ix.newest;
	}
	assert_true(ix.newest > 2);
	assert_int_equal(ix.oldest, ix.newest);
	assert_in_range(twice, 1, ENTRIES / 20);
}

static void *insert_and_find(void *arg)
{
	const uint32_t first = (uint32_t)(uintptr_t)arg + 1;
	uint32_t n, i;

	__atomic_add_fetch(&ready, 1, __ATOMIC_ACQ_REL);
	while (LOAD_ACQUIRE(&ready) < THREADS)
		;
	for (n = first; n <= ENTRIES; n += THREADS) {
		if (!sites_index_insert(&ix, hash_of(n), n))
			ADD(&missed, 1);
		/* its last 64 entries, which are in lines all over the level */
		for (i = n; i >= first && i > n - 64 * THREADS; i -= THREADS) {
			if (find(i) != i)
				ADD(&missed, 1);
			if (i == first)
				break;
		}
	}
	return NULL;
}

TEST_WITH(threads_find_what_they_have_entered, start, NULL)
{
	pthread_t threads[THREADS];
	uint32_t n;

	for (n = 0; n < THREADS; n++)
		assert_int_equal(
		    pthread_create(&threads[n], NULL, insert_and_find, (void *)(uintptr_t)n), 0);
	for (n = 0; n < THREADS; n++)
		pthread_join(threads[n], NULL);
	assert_int_equal(missed, 0);
	for (n = 1; n <= ENTRIES; n++)
		assert_int_equal(find(n), n);
	assert_int_equal(ix.oldest, ix.newest);
}

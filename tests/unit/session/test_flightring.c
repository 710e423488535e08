/* test_flightring.c - the entries of a ring become events in their order, with their times. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "session/events/flightread.h"
#include "format/format.h"

enum { ENTRIES = 18 };

static struct flight_entry ring[ENTRIES];
static struct log_chunk head;

static void begin(uint32_t thread, uint64_t now)
{
	memset(ring, 0, sizeof(ring));
	head = (struct log_chunk){.thread = thread, .tid = 77, .now = now};
}

static void set(size_t i, uint64_t what, uint64_t address, uint64_t time)
{
	ring[i].what = what;
	ring[i].where = flight_where(address, time, false);
}

static struct flightring decoded(void)
{
	struct flightring r;

	assert_int_equal(flightring_decode(&head, ring, ENTRIES, &r), 0);
	return r;
}

TEST(the_oldest_is_behind_the_empty_entry)
{
	struct flightring r;

	begin(1, 500);
	for (size_t i = 0; i < ENTRIES; i++)
		set(i, flight_alloc_word(3, 10 + i), 0x1000 + 16 * i, 500);
	ring[5].what = 0;
	r = decoded();
	assert_int_equal(r.count, ENTRIES - 1);
	assert_int_equal(r.events[0].size, 10 + 6);
	assert_int_equal(r.events[ENTRIES - 2].size, 10 + 4);
	assert_int_equal(r.events[0].tid, 77);
	flightring_release(&r);
	/* killed between the zero and the first word: two are empty */
	ring[6].what = 0;
	r = decoded();
	assert_int_equal(r.count, ENTRIES - 2);
	assert_int_equal(r.events[0].size, 10 + 7);
	flightring_release(&r);
}

TEST(a_ring_that_is_not_full_begins_at_its_first_entry)
{
	struct flightring r;

	begin(1, 9);
	r = decoded();
	assert_int_equal(r.count, 0);
	flightring_release(&r);
	set(0, flight_alloc_word(1, 8), 0x1000, 7);
	set(1, flight_free_word(1, flight_age_code(3), 8), 0x1000, 9);
	r = decoded();
	assert_int_equal(r.count, 2);
	assert_int_equal(r.events[0].tick, 7);
	assert_int_equal(r.events[1].kind, FLIGHTRING_FREE);
	assert_int_equal(r.events[1].age, 3);
	assert_int_equal(r.events[1].site, 1);
	flightring_release(&r);
}

TEST(times_go_on_beyond_their_bits_and_over_long_pauses)
{
	const uint64_t long_ago = 123, later = 1000000, now = later + 70;
	struct flightring r;

	begin(2, now);
	set(0, flight_alloc_word(1, 1), 0x10, long_ago);
	set(1, flight_word(FLIGHT_TIME, long_ago), 0, later);
	set(2, flight_alloc_word(1, 2), 0x20, later);
	set(3, flight_alloc_word(1, 3), 0x30, now);
	r = decoded();
	assert_int_equal(r.count, 3);
	assert_int_equal(r.events[0].tick, long_ago);
	assert_int_equal(r.events[1].tick, later);
	assert_int_equal(r.events[2].tick, now);
	flightring_release(&r);
}

TEST(large_sizes_and_stacks_of_frees_come_from_the_entry_before)
{
	const uint64_t huge = UINT64_C(1) << 40;
	struct flightring r;

	begin(1, 1);
	set(0, flight_word(FLIGHT_SIZE, huge), 0x10, 1);
	set(1, flight_alloc_word(4, huge), 0x10, 1);
	set(2, flight_word(FLIGHT_BY, 9), 0x10, 1);
	set(3, flight_word(FLIGHT_SIZE, huge), 0x10, 1);
	set(4, flight_free_word(4, 0, huge), 0x10, 1);
	set(5, flight_word(FLIGHT_BY, 8), 0x10, 1);
	set(6, flight_word(FLIGHT_UNKNOWN, 0), 0x10, 1);
	set(7, flight_free_word(4, 0, 5), 0x20, 1);
	r = decoded();
	assert_int_equal(r.count, 4);
	assert_int_equal(r.events[0].size, huge);
	assert_int_equal(r.events[1].size, huge);
	assert_int_equal(r.events[1].by, 9);
	assert_int_equal(r.events[2].kind, FLIGHTRING_UNKNOWN);
	assert_int_equal(r.events[2].by, 8);
	assert_int_equal(r.events[3].size, 5);
	assert_int_equal(r.events[3].by, 0);
	flightring_release(&r);
}

TEST(pairs_of_several_threads_are_sorted_by_number)
{
	const size_t pairs = ENTRIES / 2;
	struct flightring r;

	begin(0, 0);
	for (uint64_t n = 20; n < 20 + pairs; n++) {
		struct flight_entry *e = &ring[n % pairs * 2];

		e[0].what = flight_word(FLIGHT_NUMBER, n);
		e[0].where = (uint64_t)(1000 + n) << 42 | (2 * n);
		e[1].what = flight_alloc_word(1, n);
		e[1].where = flight_where(0x1000 * n, 2 * n, false);
	}
	ring[0].what = 0;                             /* it is being stored */
	ring[2].what = flight_word(FLIGHT_NUMBER, 5); /* not its place */
	r = decoded();
	assert_int_equal(r.count, pairs - 2);
	assert_int_equal(r.strange, 1);
	for (size_t i = 1; i < r.count; i++)
		assert_true(r.events[i - 1].size < r.events[i].size);
	assert_int_equal(r.events[0].tid, 1000 + r.events[0].size);
	assert_int_equal(r.events[0].tick, 2 * r.events[0].size);
	flightring_release(&r);
}

TEST(ages_are_at_most_an_eighth_too_small)
{
	for (uint64_t age = 0; age <= INT32_MAX; age += 1 + age / 37) {
		uint32_t code = flight_age_code((uint32_t)age);
		uint64_t back = flight_age(code);

		assert_true(code < 256);
		assert_true(back <= age && age - back <= age / 8);
	}
	assert_int_equal(flight_age(flight_age_code(7)), 7);
	assert_int_equal(flight_age(flight_age_code(8)), 8);
}

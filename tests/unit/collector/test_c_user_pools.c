/* test_c_user_pools.c - promises of user_pools.h, mark.h and of sites_user(). */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sys/mman.h>

#include "test.h"
#include "collector/heap/ledger.h"
#include "collector/snapshot/mark.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/event/user_pools.h"

enum { MIB = 1 << 20, THREADS = 4, ROUNDS = 20000 };

/* A segment in plain memory, as a forked child's first one is. */
static void start(size_t bytes, uint32_t first_id)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_true(segment_init_plain(p, bytes, bytes));
	assert_true(sites_init(first_id) && ledger_init(first_id) && mark_init() &&
	    user_pools_init(first_id));
}

static struct site_id stack(uint64_t frame)
{
	return sites_get(SITES_NODE_ROOT, sites_inner(&frame, 1), SEG_API_NONE);
}

static const void *handle(uint64_t n)
{
	return (const void *)(uintptr_t)n;
}

static uint64_t count(enum seg_count which)
{
	return segment.header->counts[which];
}

static struct seg_row row(struct site_id site, uint32_t first_id)
{
	const struct seg_row *r = segment_table_row(&user_pools_tables[1], site.v - first_id);

	assert_non_null(r);
	return *r;
}

TEST(one_handle_in_two_pools_is_two_things)
{
	struct site_id s;
	struct seg_row r;

	start(64 * (size_t)MIB, 1);
	s = stack(4711);
	user_pools_alloc("red", handle(5), 100, s, 0);
	user_pools_alloc("blue", handle(5), 7, s, 0);
	user_pools_free("red", handle(5));
	user_pools_free("red", handle(5));
	assert_int_equal(count(SEG_USER_UNKNOWN), 1);
	r = row(sites_user(s, 2), 1);
	assert_int_equal(r.allocations, 1);
	assert_int_equal(r.frees, 1);
	assert_int_equal(r.freed_bytes, 100);
	r = row(sites_user(s, 3), 1);
	assert_int_equal(r.frees, 0);
	assert_int_equal(r.allocated_bytes, 7);
	assert_int_not_equal(sites_user(s, 2).v, s.v);
	/* both have the stack that was given */
	assert_int_equal(sites_frames(sites_user(s, 2), &(uint64_t){0}, 1), 1);
}

TEST(taking_twice_books_the_free_that_was_missed)
{
	struct seg_row r;

	start(64 * (size_t)MIB, 1);
	user_pools_alloc("pool", handle(1), 10, stack(1), 0);
	user_pools_alloc("pool", handle(1), 30, stack(1), 0);
	assert_int_equal(count(SEG_USER_MISSED), 1);
	r = row(sites_user(stack(1), 2), 1);
	assert_int_equal(r.allocations, 2);
	assert_int_equal(r.frees, 1);
	assert_int_equal(r.freed_bytes, 10);
	user_pools_free_all("pool");
	user_pools_free_all("pool");
	user_pools_free_all("no such pool");
	r = row(sites_user(stack(1), 2), 1);
	assert_int_equal(r.frees, 2);
}

#ifndef __SANITIZE_THREAD__ /* one thread alone, and slow */
/* More than the hash has room for: what is lost is counted, on both sides. */
TEST(a_full_hash_counts_what_it_cannot_hold)
{
	uint64_t n, lost, all = 1600000;
	struct seg_row r;

	start(64 * (size_t)MIB, 1);
	for (n = 1; n <= all; n++)
		user_pools_alloc("many", handle(n), 1, stack(9), 0);
	lost = count(SEG_USER_LOST);
	assert_in_range(lost, 1, all / 2);
	r = row(sites_user(stack(9), 2), 1);
	assert_int_equal(r.allocations, all - lost);
	for (n = 1; n <= all; n++)
		user_pools_free("many", handle(n));
	r = row(sites_user(stack(9), 2), 1);
	assert_int_equal(r.frees, all - lost);
	assert_int_equal(count(SEG_USER_UNTRACKED), lost);
	assert_int_equal(count(SEG_USER_UNKNOWN), 0);
}
#endif

TEST(a_child_frees_what_it_inherited)
{
	uint64_t n;

	start(64 * (size_t)MIB, 1);
	for (n = 1; n <= 100; n++)
		user_pools_alloc("pool", handle(n), 8, stack(n), 0);
	start(64 * (size_t)MIB, sites_next_id());
	user_pools_free("pool", handle(1));
	user_pools_alloc("pool", handle(1), 9, stack(3), 0);
	user_pools_free("pool", handle(1));
	assert_int_equal(count(SEG_USER_INHERITED), 1);
	assert_int_equal(count(SEG_USER_UNKNOWN), 0);
	user_pools_free_all("pool");
	assert_int_equal(count(SEG_USER_INHERITED), 100);
}

TEST(names_beyond_all_room_share_one)
{
	const struct seg_pool *other;
	char name[200];
	int i;

	start(64 * (size_t)MIB, 1);
	for (i = 0; i < USER_POOLS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "pool %d", i);
		user_pools_alloc(name, handle(1), 1, stack(1), 0);
	}
	for (i = 0; i < USER_POOLS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "pool %d", i);
		user_pools_free(name, handle(1));
	}
	assert_in_range(count(SEG_USER_POOLS), 100, 102);
	assert_int_equal(count(SEG_USER_UNKNOWN), 0);
	other = segment_table_row(&user_pools_tables[0], 1);
	assert_string_equal(other->name, "(other pools)");
	/* a name without end, and none at all */
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = 0;
	user_pools_alloc(name, handle(2), 1, stack(1), 0);
	user_pools_free(name, handle(2));
	user_pools_alloc(NULL, handle(2), 1, stack(1), 0);
	user_pools_free(NULL, handle(2));
	assert_int_equal(count(SEG_USER_UNKNOWN), 0);
}

static void *churn(void *arg)
{
	uint64_t base = (uint64_t)(uintptr_t)arg << 32 | 1;
	struct site_id s = stack(77);
	uint64_t i;

	for (i = 0; i < ROUNDS; i++) {
		user_pools_alloc("shared", handle(base + i), 2, s, 0);
		if (i >= 50)
			user_pools_free("shared", handle(base + i - 50));
		mark_put(SEG_MARK_PROGRAM, "churn");
	}
	return NULL;
}

TEST(threads_lose_nothing)
{
	pthread_t t[THREADS];
	struct seg_row r;
	uintptr_t i;

	start(64 * (size_t)MIB, 1);
	/* threads that race for a new pool may leave out a number */
	user_pools_alloc("shared", handle(1), 2, stack(77), 0);
	user_pools_free("shared", handle(1));
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, churn, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(count(SEG_USER_UNKNOWN), 0);
	assert_int_equal(count(SEG_USER_LOST), 0);
	r = row(sites_user(stack(77), 2), 1);
	assert_int_equal(r.allocations, THREADS * ROUNDS + 1);
	assert_int_equal(r.frees, THREADS * (ROUNDS - 50) + 1);
	/*
	 * Each other thread may stand still in its place of the ring, which
	 * then loses one mark a round.
	 */
	assert_in_range(count(SEG_MARKS_LOST), THREADS * ROUNDS - MARK_RING,
	    THREADS * ROUNDS - MARK_RING + (THREADS - 1) * (THREADS * ROUNDS / MARK_RING + 1));
}

TEST(a_label_is_cut_between_characters)
{
	char to[8];

	assert_int_equal(mark_copy_label(to, sizeof(to), "1234567"), 7);
	assert_string_equal(to, "1234567");
	assert_int_equal(mark_copy_label(to, sizeof(to), "12345678"), 7);
	assert_int_equal(mark_copy_label(to, sizeof(to), "12345\xc3\xa4"), 7);
	assert_int_equal(mark_copy_label(to, sizeof(to), "123456\xc3\xa4"), 6);
	assert_string_equal(to, "123456");
	assert_int_equal(mark_copy_label(to, sizeof(to), "\xf0\x9f\x98\x80\xf0\x9f\x98\x80"), 4);
	assert_int_equal(mark_copy_label(to, sizeof(to), NULL), 0);
	assert_string_equal(to, "");
}

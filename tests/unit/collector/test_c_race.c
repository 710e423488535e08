/* test_c_race.c - tables, live map, spill and memory, by many threads at once; what TSan is for. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sys/mman.h>

#include "test.h"
#include "base/attr.h"
#include "collector/heap/site_info.h"
#include "collector/heap/ledger_hit.h"
#include "collector/heap/blocks.h"
#include "collector/segment/mem.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"

enum { THREADS = 6, STACKS = 3000, BLOCKS = 20000, DEPTH = 8 };

static pthread_barrier_t gate;

static int fresh_segment(void **state)
{
	size_t bytes = (size_t)64 << 20;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	pthread_barrier_init(&gate, NULL, THREADS);
	return p == MAP_FAILED || !segment_init_plain(p, bytes, bytes) || !sites_init(1) ||
	        !ledger_init(1)
	    ? -1
	    : 0;
}

static void together(void *(*work)(void *), void *ret[THREADS])
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(t[i], ret ? &ret[i] : NULL), 0);
}

/*
 * the same stacks in another order; outer frames are shared by many, and half
 * of the threads put them into runs
 */
static uint32_t intern(uint32_t k, bool makes_runs)
{
	uint64_t inner[2] = {0x1000 + k % 97, 0x2000 + k % 89};
	uint64_t outer[DEPTH];
	struct sites_way w = {
	    .frames = outer, .left = DEPTH, .node = SITES_NODE_ROOT, .makes_runs = makes_runs};

	for (uint32_t d = 0; d < DEPTH; d++)
		outer[DEPTH - 1 - d] = 0x5000 + (k >> d) % 13 + d * 64;
	while (w.left && sites_next(&w))
		;
	return sites_get(w.node, sites_inner(inner, 2), SEG_API_MALLOC).v;
}

static void *intern_all(void *arg)
{
	uint32_t start = (uint32_t)(uintptr_t)arg * 7919;
	uint32_t *ids = calloc(STACKS, sizeof(*ids));

	pthread_barrier_wait(&gate);
	for (uint32_t i = 0; ids && i < STACKS; i++) {
		uint32_t k = (start + i) % STACKS;

		ids[k] = intern(k, (uintptr_t)arg % 2);
	}
	return ids;
}

TEST_WITH(every_thread_gets_ids_of_the_stack_it_asked_for, fresh_segment, NULL)
{
	uint64_t mine[64], theirs[64];
	void *ids[THREADS];

	together(intern_all, ids);
	for (uint32_t k = 0; k < STACKS; k++) {
		uint32_t n = sites_frames((struct site_id){((uint32_t *)ids[0])[k]}, mine, 64);

		assert_int_equal(n, DEPTH + 2);
		/* a lost race may give a stack two ids; the stack is the same */
		for (int t = 1; t < THREADS; t++) {
			assert_int_equal(
			    sites_frames((struct site_id){((uint32_t *)ids[t])[k]}, theirs, 64), n);
			assert_memory_equal(mine, theirs, n * sizeof(*mine));
		}
	}
	for (int t = 0; t < THREADS; t++)
		free(ids[t]);
}

enum { INFO_SITES = 2000 };

static void *age_all(void *arg)
{
	uint32_t start = (uint32_t)(uintptr_t)arg * 331;

	pthread_barrier_wait(&gate);
	for (uint32_t i = 0; i < INFO_SITES; i++)
		ledger_age(NULL, 1 + (start + i) % INFO_SITES, 16);
	return NULL;
}

/* A lost race may give a site two records, which a reader adds up. */
TEST_WITH(deaths_of_a_site_are_all_in_its_records, fresh_segment, NULL)
{
	static uint32_t deaths[INFO_SITES + 1];
	const struct seg_info *info;
	uint32_t n;

	together(age_all, NULL);
	for (n = 0; n < 2 * INFO_SITES; n++) {
		info = segment_table_row(&site_info_table, n);
		assert_non_null(info);
		assert_in_range(info->site, 0, INFO_SITES);
		deaths[info->site] += info->ages[0];
	}
	assert_int_equal(deaths[0], 0);
	for (n = 1; n <= INFO_SITES; n++) {
		assert_int_equal(deaths[n], THREADS);
		assert_int_equal(site_info_peek(n)->site, n);
	}
	assert_int_equal(segment.header->counts[SEG_LOST_AGES], 0);
}

/* blocks of different threads are neighbours; a block has one owner */
static void *put_and_take(void *arg)
{
	uint64_t me = (uint64_t)(uintptr_t)arg, wrong = 0;
	struct block_entry old, b;

	pthread_barrier_wait(&gate);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t at = UINT64_C(0x7f2000000010) + (i * THREADS + me) * 64;

		wrong += !blocks_put_slow(at, (uint32_t)(me + 1), i, (uint32_t)i, &old);
		wrong += old.site != 0;
		if (i % 3 == 0) {
			b = blocks_take_slow(at);
			wrong += b.site != me + 1 || b.size != i;
		}
	}
	for (uint64_t i = 0; i < BLOCKS; i++) {
		uint64_t at = UINT64_C(0x7f2000000010) + (i * THREADS + me) * 64;

		b = blocks_take_slow(at);
		wrong += i % 3 == 0 ? b.site != 0 : b.site != me + 1 || b.size != i;
	}
	return (void *)(uintptr_t)wrong;
}

TEST_WITH(neighbouring_blocks_of_many_threads_stay_apart, fresh_segment, NULL)
{
	void *wrong[THREADS];

	together(put_and_take, wrong);
	for (int t = 0; t < THREADS; t++)
		assert_null(wrong[t]);
}

static void *spill_and_take(void *arg)
{
	uint64_t me = (uint64_t)(uintptr_t)arg, wrong = 0;
	struct block_entry old, b;

	pthread_barrier_wait(&gate);
	for (uint64_t round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < BLOCKS / 10; i++)
			wrong += !blocks_spill_put(
			    (i * THREADS + me) * 8 + 8, (uint32_t)(me + 1), i, 0, &old);
		for (uint64_t i = 0; i < BLOCKS / 10; i++) {
			b = blocks_spill_take((i * THREADS + me) * 8 + 8);
			wrong += b.site != me + 1 || b.size != i;
		}
	}
	return (void *)(uintptr_t)wrong;
}

TEST_WITH(spilled_blocks_of_many_threads_come_back, fresh_segment, NULL)
{
	void *wrong[THREADS];

	together(spill_and_take, wrong);
	for (int t = 0; t < THREADS; t++)
		assert_null(wrong[t]);
}

static void *take_memory(void *arg)
{
	uint64_t me = (uint64_t)(uintptr_t)arg + 1, wrong = 0;
	uint64_t *mine[200];

	pthread_barrier_wait(&gate);
	for (int i = 0; i < 200; i++) {
		mine[i] = mem_alloc(4096 + (size_t)i * 100);
		wrong += !mine[i] || mine[i][0] != 0;
		if (mine[i])
			mine[i][0] = mine[i][511] = me << 32 | (uint64_t)i;
	}
	for (int i = 0; i < 200; i++)
		wrong += mine[i] && mine[i][0] != (me << 32 | (uint64_t)i);
	return (void *)(uintptr_t)wrong;
}

TEST_WITH(memory_is_given_to_one_thread_only, fresh_segment, NULL)
{
	void *wrong[THREADS];

	together(take_memory, wrong);
	for (int t = 0; t < THREADS; t++)
		assert_null(wrong[t]);
}

/* one array each, one shared: no event is lost in either */
static void *book(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg;
	struct thread *t = calloc(1, sizeof(*t));

	if (!t || !ledger_claim(t, me))
		return NULL;
	pthread_barrier_wait(&gate);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		uint32_t site = intern(i % 50, false);

		if (!ledger_alloc(t, site, i % 100) || (i % 2 && !ledger_free(t, site, i % 100)))
			return NULL;
	}
	return t;
}

TEST_WITH(bookings_of_many_threads_add_up, fresh_segment, NULL)
{
	uint64_t allocations = 0, frees = 0;
	void *threads[THREADS];

	together(book, threads);
	for (int i = 0; i < THREADS; i++) {
		assert_non_null(threads[i]);
		/* a lost race may have given a stack two ids: ask for all */
		for (uint32_t id = 1; id < sites_next_id(); id++) {
			const struct seg_row *r = ledger_row(threads[i], id);

			allocations += r ? r->allocations : 0;
			frees += r ? r->frees : 0;
		}
		free(threads[i]);
	}
	assert_int_equal(allocations, THREADS * BLOCKS);
	assert_int_equal(frees, THREADS * BLOCKS / 2);
}

/* test_c_ranges.c - promises of ranges.h and of mapping.h's table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "test.h"
#include "base/attr.h"
#include "collector/event/mapping.h"
#include "format/seg_mapped.h"

enum {
	PAGES = 3 * 4096 + 500, /* more than an entry of each lower level */
	STEPS = 20000,
	THREADS = 4,
	ROUNDS = 4000,
};

/* Of each thread: borders are inside of entries. */
#define PART UINT64_C(1000)

/* Not at the border of any entry. */
#define BASE (UINT64_C(0x7f1234567) + 5)

struct model {
	uint32_t site[PAGES + 1]; /* 0: nothing; the last is always 0 */
	uint8_t starts[PAGES + 1];
};

static void not_expected(const struct ranges_run *run)
{
	(void)run;
	fail();
}

static uint64_t beyond_pages;

static void count_beyond(const struct ranges_run *run)
{
	ADD(&beyond_pages, run->end - run->first);
}

static void put(uint64_t first, uint64_t end, uint32_t site)
{
	const struct ranges_run run = {first, end, site, 7, true};

	assert_int_equal(ranges_put(&run), end - first);
}

static void clear(uint64_t first, uint64_t end)
{
	struct ranges_taken t;

	do
		ranges_take(first, end, &t, count_beyond);
	while (t.count);
}

TEST(a_range_is_found_as_it_was_put)
{
	static const uint64_t lengths[] = {1, 2, 63, 64, 65, 4096, 4200, 300000};
	struct ranges_taken t;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		put(BASE, BASE + lengths[i], 42);
		ranges_take(BASE - 100, BASE + lengths[i] + 100, &t, not_expected);
		assert_int_equal(t.count, 1);
		assert_int_equal(t.runs[0].first, BASE);
		assert_int_equal(t.runs[0].end, BASE + lengths[i]);
		assert_int_equal(t.runs[0].site, 42);
		assert_int_equal(t.runs[0].birth, 7);
		assert_true(t.runs[0].starts);
		assert_int_equal(t.split | t.lost | t.beyond, 0);
		ranges_take(0, MAPPED_PAGES, &t, not_expected);
		assert_int_equal(t.count, 0);
	}
}

TEST(neighbours_of_one_site_stay_two)
{
	struct ranges_taken t;

	put(BASE, BASE + 10, 3);
	put(BASE + 10, BASE + 20, 3);
	ranges_take(BASE, BASE + 20, &t, not_expected);
	assert_int_equal(t.count, 2);
	assert_true(t.runs[0].starts && t.runs[1].starts);
	assert_int_equal(t.split, 0);
}

TEST(what_is_cut_off_begins_a_range)
{
	struct ranges_taken t;

	put(BASE, BASE + 5000, 9);
	ranges_take(BASE + 100, BASE + 200, &t, not_expected);
	assert_int_equal(t.count, 1);
	assert_false(t.runs[0].starts);
	assert_int_equal(t.split, 9);
	ranges_take(BASE, BASE + 5000, &t, not_expected);
	assert_int_equal(t.count, 2);
	assert_true(t.runs[0].starts && t.runs[1].starts);
	assert_int_equal(t.runs[0].end, BASE + 100);
	assert_int_equal(t.runs[1].first, BASE + 200);
}

TEST(a_call_that_failed_changes_nothing)
{
	struct ranges_taken t;

	put(BASE, BASE + 300, 4);
	put(BASE + 300, BASE + 600, 5);
	ranges_take(BASE + 17, BASE + 450, &t, not_expected);
	assert_int_equal(t.split, 5);
	ranges_put_back(&t);
	ranges_take(BASE, BASE + 600, &t, not_expected);
	assert_int_equal(t.count, 2);
	assert_int_equal(t.runs[0].end, BASE + 300);
	assert_int_equal(t.runs[1].end, BASE + 600);
	assert_true(t.runs[0].starts && t.runs[1].starts);
}

TEST(runs_beyond_the_list_are_told_one_by_one)
{
	struct ranges_taken t;

	for (uint64_t i = 0; i < 100; i++)
		put(BASE + 3 * i, BASE + 3 * i + 2, 8);
	beyond_pages = 0;
	ranges_take(BASE, BASE + 300, &t, count_beyond);
	assert_int_equal(t.count, RANGES_RUNS);
	assert_int_equal(t.beyond, 100 - RANGES_RUNS);
	assert_int_equal(beyond_pages, 2 * (100 - RANGES_RUNS));
}

/* ---- against a model ----------------------------------------------------- */

struct scan {
	const struct model *m;
	uint64_t next;
};

static bool same_as_model(const struct ranges_run *run, void *arg)
{
	struct scan *s = arg;

	assert_in_range(run->first, BASE, BASE + PAGES);
	assert_true(run->starts);
	for (; s->next < run->first - BASE; s->next++)
		assert_int_equal(s->m->site[s->next], 0);
	for (; s->next < run->end - BASE; s->next++) {
		assert_int_equal(s->m->site[s->next], run->site);
		assert_int_equal(s->m->starts[s->next], s->next == run->first - BASE);
	}
	return true;
}

TEST(random_changes_are_those_of_a_model)
{
	struct model *m = calloc(1, sizeof(*m));
	struct ranges_taken t;

	assert_non_null(m);
	srandom(1);
	for (int i = 0; i < STEPS; i++) {
		uint64_t first = (uint64_t)random() % PAGES;
		uint64_t most = i % 8 ? 200 : PAGES;
		uint64_t end = first + 1 + (uint64_t)random() % most;
		uint32_t site = (uint32_t)random() % 5;
		uint64_t pages = 0;

		end = end < PAGES ? end : PAGES;
		beyond_pages = 0;
		ranges_take(BASE + first, BASE + end, &t, count_beyond);
		for (uint32_t k = 0; k < t.count; k++)
			pages += t.runs[k].end - t.runs[k].first;
		for (uint64_t k = first; k < end; k++)
			pages -= m->site[k] != 0;
		assert_int_equal(pages + beyond_pages, 0);
		if (m->site[end] && !m->starts[end]) {
			assert_int_equal(t.split, m->site[end]);
			m->starts[end] = 1;
		} else {
			assert_int_equal(t.split, 0);
		}
		for (uint64_t k = first; k < end; k++) {
			m->site[k] = site;
			m->starts[k] = site && k == first;
		}
		if (site)
			put(BASE + first, BASE + end, site);
		if (i % 500 == 0) {
			struct scan s = {m, 0};

			ranges_scan(same_as_model, &s);
			for (; s.next < PAGES; s.next++)
				assert_int_equal(m->site[s.next], 0);
		}
	}
	clear(BASE, BASE + PAGES);
	free(m);
}

/* ---- threads ------------------------------------------------------------- */

static pthread_barrier_t barrier;
static int64_t ranges_now, pages_now;

/*
 * All threads unmap their part of one range at the same time. Each part begins
 * where another thread may be marking the beginning of a range.
 */
static void *unmap_one_part(void *arg)
{
	const uint64_t first = BASE + (uintptr_t)arg * PART;
	struct ranges_taken t;

	for (int i = 0; i < ROUNDS; i++) {
		if (!arg) {
			put(BASE, BASE + THREADS * PART, 11);
			ADD(&ranges_now, 1);
			ADD(&pages_now, (int64_t)(THREADS * PART));
		}
		pthread_barrier_wait(&barrier);
		ranges_take(first, first + PART, &t, not_expected);
		for (uint32_t k = 0; k < t.count; k++) {
			ADD(&ranges_now, -(int64_t)t.runs[k].starts);
			ADD(&pages_now, -(int64_t)(t.runs[k].end - t.runs[k].first));
		}
		ADD(&ranges_now, t.split != 0);
		pthread_barrier_wait(&barrier);
		assert_int_equal(LOAD(&ranges_now), 0);
		assert_int_equal(LOAD(&pages_now), 0);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

TEST(threads_cut_one_range_at_the_same_time)
{
	pthread_t all[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&all[i], NULL, unmap_one_part, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	pthread_barrier_destroy(&barrier);
}

/* The last test: the nodes are used up after it. */
TEST(a_full_table_says_so)
{
	const uint64_t step = 64; /* each page needs a node of its own */
	struct ranges_run run = {.site = 1, .starts = true};
	uint64_t entered = 0, found = 0, i;
	struct ranges_taken t;

	for (i = 0; i < RANGES_NODES + 10; i++) {
		run.first = (UINT64_C(1) << 30) + i * step;
		run.end = run.first + 1;
		entered += ranges_put(&run);
	}
	assert_in_range(entered, RANGES_NODES - 3000, RANGES_NODES);
	/* a whole entry needs no node; a part of it cannot be cut off */
	run = (struct ranges_run){UINT64_C(1) << 32, (UINT64_C(1) << 32) + 4096, 2, 0, true};
	run.first = UINT64_C(1) << 24;
	run.end = UINT64_C(2) << 24;
	assert_int_equal(ranges_put(&run), UINT64_C(1) << 24);
	ranges_take(run.first + 5, run.first + 6, &t, not_expected);
	assert_int_equal(t.lost, 1);
	assert_int_equal(t.count, 1);
	assert_int_equal(t.runs[0].end - t.runs[0].first, UINT64_C(1) << 24);
	beyond_pages = 0;
	ranges_take(0, MAPPED_PAGES, &t, count_beyond);
	for (i = 0; i < t.count; i++)
		found += t.runs[i].end - t.runs[i].first;
	assert_int_equal(found + beyond_pages, entered);
}

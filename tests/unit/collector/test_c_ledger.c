/* test_c_ledger.c - promises of ledger.h, sites.h, index.h and segment.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sys/mman.h>

#include "test.h"
#include "collector/heap/site_info.h"
#include "collector/heap/ledger_hit.h"
#include "collector/unwind/module.h"
#include "collector/heap/sample.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"

enum { MIB = 1 << 20, SITES = 40, EVENTS = 200000 };

/* A segment in plain memory, as a forked child's first one is. */
static int fresh_segment(void **state)
{
	size_t bytes = *state ? *(size_t *)*state : 64 * (size_t)MIB;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED || !segment_init_plain(p, bytes, bytes) || !sites_init(1) ||
	        !ledger_init(1)
	    ? -1
	    : 0;
}

static struct thread *new_thread(uint32_t array)
{
	struct thread *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	assert_true(ledger_claim(t, array));
	return t;
}

static uint32_t make_site(uint64_t frame)
{
	return sites_get(SITES_NODE_ROOT, sites_inner(&frame, 1), SEG_API_MALLOC).v;
}

/* What a reader computes for one site from the arrays given. */
static int64_t peak_of(struct thread **threads, int count, uint32_t site, int64_t *ret_live)
{
	uint32_t epoch = (uint32_t)segment.header->peak_epoch;
	int64_t peak = 0;
	int i;

	*ret_live = 0;
	for (i = 0; i < count; i++) {
		const struct seg_row *r = ledger_row(threads[i], site);
		int64_t live = (int64_t)(r->allocated_bytes - r->freed_bytes);

		*ret_live += live;
		peak += r->epoch == epoch ? r->snap_bytes : live;
	}
	return peak;
}

TEST(one_thread_has_the_exact_peak_of_every_site)
{
	int64_t live[SITES] = {0}, at_peak[SITES] = {0};
	int64_t total = 0, peak = 0, seen, now;
	struct thread *t;
	uint32_t site[SITES];
	unsigned i, seed = 7;

	assert_int_equal(fresh_segment(state), 0);
	t = new_thread(0);
	for (i = 0; i < SITES; i++)
		site[i] = make_site(1000 + i);
	for (i = 0; i < EVENTS; i++) {
		unsigned k = (unsigned)rand_r(&seed) % SITES;
		int64_t size = rand_r(&seed) % 1000;

		if (rand_r(&seed) % 2 && live[k] >= size) {
			assert_true(ledger_free(t, site[k], (uint64_t)size));
			size = -size;
		} else {
			assert_true(ledger_alloc(t, site[k], (uint64_t)size));
		}
		live[k] += size;
		total += size;
		if (total > peak) {
			peak = total;
			memcpy(at_peak, live, sizeof(live));
		}
	}
	assert_int_equal(segment.header->peak_bytes, peak);
	for (i = 0; i < SITES; i++) {
		seen = peak_of(&t, 1, site[i], &now);
		assert_int_equal(now, live[i]);
		assert_int_equal(seen, at_peak[i]);
	}
	free(t);
}

TEST(the_peak_of_many_threads_is_never_far_off)
{
	enum { N = 8 };
	struct thread *t[N];
	int64_t live[N] = {0}, total = 0, peak = 0, seen = 0, now;
	uint32_t site[N];
	unsigned i, seed = 11;

	assert_int_equal(fresh_segment(state), 0);
	for (i = 0; i < N; i++) {
		t[i] = new_thread(i);
		site[i] = make_site(i + 1);
	}
	for (i = 0; i < EVENTS; i++) {
		unsigned k = (unsigned)rand_r(&seed) % N;
		int64_t size = rand_r(&seed) % 5000;
		/* waves: all grow, then all shrink */
		bool grow = rand_r(&seed) % 100 < (i / 20000 % 2 ? 40 : 60);

		if (!grow && live[k] >= size) {
			ledger_free(t[k], site[k], (uint64_t)size);
			size = -size;
		} else {
			ledger_alloc(t[k], site[k], (uint64_t)size);
		}
		live[k] += size;
		total += size;
		if (total > peak)
			peak = total;
	}
	assert_true((int64_t)segment.header->peak_bytes <= peak);
	assert_true(peak - (int64_t)segment.header->peak_bytes <= peak / 200);
	for (i = 0; i < N; i++)
		seen += peak_of(t, N, site[i], &now);
	assert_true(llabs(seen - peak) <= peak / 200);
	for (i = 0; i < N; i++)
		free(t[i]);
}

TEST(one_stack_has_one_id_and_another_stack_another)
{
	uint64_t frames[6] = {1, 2, 3, 4, 5, 6};
	uint32_t node, inner, i, ids[5000];
	uint64_t back[16];
	struct site_id s;

	assert_int_equal(fresh_segment(state), 0);
	node = sites_node(sites_node(SITES_NODE_ROOT, 100), 200);
	assert_int_equal(node, sites_node(sites_node(SITES_NODE_ROOT, 100), 200));
	inner = sites_inner(frames, 6);
	s = sites_get(node, inner, SEG_API_MALLOC);
	assert_int_equal(s.v, sites_get(node, inner, SEG_API_MALLOC).v);
	assert_int_equal(sites_frames(s, back, 16), 8);
	assert_int_equal(back[0], 1);
	assert_int_equal(back[6], 200);
	assert_int_equal(back[7], 100);
	for (i = 0; i < 5000; i++)
		ids[i] = make_site(10000 + i);
	for (i = 0; i < 5000; i++) {
		assert_int_equal(ids[i], make_site(10000 + i));
		assert_int_equal(sites_frames((struct site_id){ids[i]}, back, 16), 1);
		assert_int_equal(back[0], 10000 + i);
	}
}

/* A small segment fills up: first outer frames go, then "(no room)". */
TEST(a_full_segment_drops_outer_frames_then_goes_to_no_room)
{
	size_t bytes = 512 << 10;
	void *size = &bytes;
	uint32_t i, node = 1;
	uint64_t frame;

	assert_int_equal(fresh_segment(&size), 0);
	for (i = 0; i < 100000 && node; i++)
		node = sites_node(SITES_NODE_ROOT, 1 + i);
	assert_int_equal(node, 0);
	frame = 7;
	assert_int_not_equal(
	    sites_get(SITES_NODE_OUTER_DROPPED, sites_inner(&frame, 1), SEG_API_MALLOC).v, 1);
	assert_int_equal(segment.header->counts[SEG_OUTER_DROPPED], 1);
	for (frame = 100; frame < 100000; frame++)
		sites_get(SITES_NODE_OUTER_DROPPED, sites_inner(&frame, 1), SEG_API_MALLOC);
	assert_int_equal(
	    sites_get(SITES_NODE_OUTER_DROPPED, sites_inner(&frame, 1), SEG_API_MALLOC).v, 1);
	assert_true(segment.header->counts[SEG_LOST_SITES] > 0);
	assert_true(segment.used <= bytes);
}

static void *intern_the_same(void *arg)
{
	uint64_t i;

	for (i = 0; i < 20000; i++)
		make_site(500000 + i);
	return arg;
}

TEST(threads_that_intern_at_once_lose_nothing)
{
	pthread_t t[4];
	uint64_t back[4];
	uint32_t i;

	assert_int_equal(fresh_segment(state), 0);
	for (i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, intern_the_same, NULL);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < 20000; i++) {
		struct site_id s = {make_site(500000 + i)};

		assert_int_equal(sites_frames(s, back, 4), 1);
		assert_int_equal(back[0], 500000 + i);
	}
}

/* ---- past the width of a counter ---- */

static void *row_of_kind(enum seg_kind kind, uint32_t site)
{
	struct segment_table *tables[LEDGER_TABLES];
	size_t i, n = ledger_tables(tables, LEDGER_TABLES);

	for (i = 0; i < n; i++)
		if (tables[i]->kind == kind)
			return segment_table_row(tables[i], site - 1);
	return NULL;
}

TEST(deaths_are_counted_beyond_2_to_the_32)
{
	struct seg_info *info;
	uint32_t site, i;

	assert_int_equal(fresh_segment(state), 0);
	site = make_site(1);
	ledger_age(NULL, site, 16);
	info = site_info_peek(site);
	assert_non_null(info);
	assert_int_equal(seg_deaths(info, 0), 1);
	for (i = 0; i < SEG_AGE_BUCKETS; i++)
		info->ages[i] = UINT32_MAX;
	for (i = 0; i < SEG_AGE_BUCKETS; i++) {
		ledger_age(NULL, site, 16u << i);
		ledger_age(NULL, site, 16u << i);
	}
	for (i = 0; i < SEG_AGE_BUCKETS; i++)
		assert_true(seg_deaths(info, i) == (UINT64_C(1) << 32) + 1);
	/* what is behind them stays zero */
	assert_int_equal(info->size_max, 0);
	for (i = 0; i < SEG_FREERS; i++)
		assert_int_equal(info->freed_by[i], 0);
}

/* In the order of their first use, wherever the sites are. */
TEST(records_lie_side_by_side)
{
	const struct seg_info *rows;
	uint32_t ids[3], i, n;

	assert_int_equal(fresh_segment(state), 0);
	assert_int_equal(segment.header->version, SEG_VERSION);
	for (i = 0; i < 3; i++)
		for (n = 0; n < 700; n++)
			ids[i] = make_site(i * 700 + n + 1);
	assert_null(site_info_peek(ids[1]));
	for (i = 3; i-- > 0;)
		ledger_age(NULL, ids[i], 16);
	ledger_age(NULL, ids[1], 16);
	rows = site_info_peek(ids[2]);
	for (i = 0; i < 3; i++) {
		assert_ptr_equal(site_info_peek(ids[i]), rows + 2 - i);
		assert_int_equal(rows[2 - i].site, ids[i]);
		assert_int_equal(rows[2 - i].ages[0], 1 + (i == 1));
	}
	assert_null(site_info_peek(ids[0] + 1));
	assert_null(site_info_peek(0));
	assert_null(site_info_peek(UINT32_MAX));
	assert_int_equal(segment.header->version, SEG_VERSION_INFOS);
}

/* A forked child has sites and records of its own. */
TEST(a_forked_child_begins_without_records)
{
	uint32_t site;

	assert_int_equal(fresh_segment(state), 0);
	site = make_site(1);
	ledger_age(NULL, site, 16);
	assert_non_null(site_info_peek(site));
	assert_true(site_info_init(site));
	assert_null(site_info_peek(site));
	assert_null(site_info_peek(site - 1));
	ledger_age(NULL, site, 32);
	assert_non_null(site_info_peek(site));
	assert_int_equal(site_info_peek(site)->ages[1], 1);
	assert_true(site_info_init(1));
}

static struct seg_ages *ages_of_array(uint32_t array, uint32_t site)
{
	struct segment_table *tables[LEDGER_TABLES];
	size_t i, n = ledger_tables(tables, LEDGER_TABLES);

	for (i = 0; i < n; i++)
		if (tables[i]->kind == SEG_EXT_AGES && tables[i]->owner == array)
			return segment_table_row(tables[i], site - 1);
	return NULL;
}

/* Each way to count a death puts it into the step that its age is in. */
TEST(young_deaths_are_counted_by_steps)
{
	struct seg_ages *own, *shared;
	struct thread *t;
	uint32_t site, far = 0, i, age;

	assert_int_equal(fresh_segment(state), 0);
	assert_int_equal(segment.header->counted_ticks, SEG_COUNTED_TICKS);
	t = new_thread(3);
	site = make_site(1);
	for (i = 2; i < 400; i++)
		far = make_site(i); /* in another chunk */
	assert_true(far - site > 256);
	/* nothing is open yet: nothing is booked */
	assert_false(ledger_age_fast(t, site, 1));
	for (age = 1; age < SEG_YOUNG_TICKS; age++)
		ledger_age(t, site, age);
	own = ages_of_array(3, site);
	assert_non_null(own);
	for (i = 0; i < SEG_AGE_STEPS; i++)
		assert_int_equal(own->deaths[i], 1u << i);
	/* the fast way, to the same row */
	for (age = 1; age < SEG_YOUNG_TICKS; age++)
		assert_true(ledger_age_fast(t, site, age));
	for (i = 0; i < SEG_AGE_STEPS; i++)
		assert_int_equal(own->deaths[i], 2u << i);
	/* not for it: the old, a chunk that is not open, another's site */
	assert_false(ledger_age_fast(t, site, SEG_YOUNG_TICKS));
	assert_false(ledger_age_fast(t, site, UINT32_MAX));
	assert_false(ledger_age_fast(t, far, 1));
	assert_false(ledger_age_fast(t, 0, 1));
	assert_false(ledger_age_fast(t, UINT32_MAX, 1));
	ledger_age(t, far, 9);
	assert_true(ledger_age_fast(t, far, 9));
	assert_int_equal(ages_of_array(3, far)->deaths[3], 2);
	/* whoever owns no array: the last one */
	ledger_age(NULL, site, 2);
	shared = ages_of_array(SEG_ARRAYS - 1, site);
	assert_int_equal(shared->deaths[1], 1);
	assert_int_equal(own->deaths[1], 4);
	assert_int_equal(segment.header->counts[SEG_LOST_AGES], 0);
	free(t);
}

TEST(a_death_without_room_for_its_age_is_a_loss)
{
	size_t bytes = 512 << 10;
	void *size = &bytes;
	uint64_t frame;
	uint32_t site;

	assert_int_equal(fresh_segment(&size), 0);
	site = make_site(1);
	for (frame = 100; frame < 100000; frame++)
		make_site(frame);
	ledger_age(NULL, site, 100);
	assert_int_equal(segment.header->counts[SEG_LOST_AGES], 1);
	ledger_age(NULL, site, 1);
	assert_int_equal(segment.header->counts[SEG_LOST_AGES], 2);
	/* the destructor says that its count is not whole */
	assert_false(ledger_fold_live(site, 8, 0, 0));
}

TEST(sizes_are_true_above_4_gib)
{
	static const uint64_t huge = UINT64_C(5) << 30;
	const struct seg_info *info;
	struct seg_row *row;
	struct thread *t;
	uint32_t site, other;

	assert_int_equal(fresh_segment(state), 0);
	t = new_thread(0);
	site = make_site(1);
	other = make_site(2);
	assert_true(ledger_alloc(t, site, huge));
	assert_true(ledger_alloc(t, site, huge + 77));
	assert_true(ledger_alloc(t, site, huge - 1));
	info = site_info_peek(site);
	assert_true(info->size_min == huge - 1);
	assert_true(info->size_max == huge + 77);
	row = ledger_row(t, site);
	assert_true(row->size_min == UINT32_MAX && row->size_span == 0);
	/* with atomics, and a small one among them */
	assert_true(ledger_alloc_shared(NULL, other, huge));
	assert_true(ledger_alloc_shared(NULL, other, 3));
	assert_true(ledger_alloc_shared(NULL, other, huge * 2));
	info = site_info_peek(other);
	assert_true(info->size_min == huge);
	assert_true(info->size_max == huge * 2);
	free(t);
}

static struct seg_row *row_of_array(uint32_t array, uint32_t site)
{
	struct segment_table *tables[LEDGER_TABLES];
	size_t i, n = ledger_tables(tables, LEDGER_TABLES);

	for (i = 0; i < n; i++)
		if (tables[i]->kind == SEG_EXT_LEDGER && tables[i]->owner == array)
			return segment_table_row(tables[i], site - 1);
	return NULL;
}

TEST(sampled_bytes_are_right_beyond_2_to_the_48)
{
	static const uint64_t large = UINT64_C(1) << 46;
	struct seg_sample *s;
	struct seg_row *row;
	uint32_t site, i;

	assert_int_equal(fresh_segment(state), 0);
	assert_true(sample_init(4096));
	site = make_site(1);
	for (i = 1; i <= 100; i++) {
		assert_true(ledger_sampled_alloc(NULL, site, large));
		row = row_of_array(SEG_ARRAYS - 1, site);
		assert_true(row->allocations == i);
		assert_true(row->allocated_bytes == i * large);
	}
	for (i = 1; i <= 60; i++)
		assert_true(ledger_sampled_free(NULL, site, large));
	assert_true(row->freed_bytes == 60 * large);
	s = row_of_kind(SEG_EXT_SAMPLE, site);
	assert_true(
	    seg_wide_of(s->weighted_bytes, s->weighted_bytes_high) == (seg_wide)100 * large << 16);
	assert_true(seg_wide_of(s->weighted_freed_bytes, s->weighted_freed_bytes_high) ==
	    (seg_wide)60 * large << 16);
	/* and the counts of blocks, from just below their old end */
	s->weighted_count = UINT64_MAX - 5;
	s->weighted_frees = UINT64_MAX - 5;
	assert_true(ledger_sampled_alloc(NULL, site, large));
	assert_true(ledger_sampled_free(NULL, site, large));
	assert_true(row->allocations == 101 && row->frees == 61);
	assert_true(s->weighted_count_high == 1 && s->weighted_frees_high == 1);
	assert_true(sample_init(0));
}

/* A rate of 2^33 bytes: one sample of a small block varies by 2^66. */
TEST(variances_have_128_bits)
{
	const struct seg_sample *s;
	double want, got;
	uint32_t site, i;

	assert_int_equal(fresh_segment(state), 0);
	assert_true(sample_init(UINT64_C(1) << 33));
	site = make_site(1);
	for (i = 0; i < 1000; i++) {
		assert_true(ledger_sampled_alloc(NULL, site, 64));
		if (i % 2)
			assert_true(ledger_sampled_free(NULL, site, 64));
	}
	s = row_of_kind(SEG_EXT_SAMPLE, site);
	want = 1000 * 73786976294838206464.0; /* 2^66 */
	got = (double)seg_wide_of(s->variance_allocated, s->variance_allocated_high);
	assert_true(got > want * 0.99 && got < want * 1.01);
	assert_true(seg_wide_of(s->variance_freed, s->variance_freed_high) * 2 ==
	    seg_wide_of(s->variance_allocated, s->variance_allocated_high));
	assert_true(sample_init(0));
}

TEST(classes_of_the_living_stop_at_their_end)
{
	struct seg_live *live;
	uint32_t site;

	assert_int_equal(fresh_segment(state), 0);
	site = make_site(1);
	assert_true(ledger_fold_live(site, 100, 97, 100));
	live = row_of_kind(SEG_EXT_LIVE, site);
	live->young = live->ages[2] = live->sizes[6] = UINT32_MAX;
	live->blocks = UINT64_C(1) << 32;
	assert_true(ledger_fold_live(site, 100, 97, 100));
	assert_true(ledger_fold_live(site, 100, 100 - (16 << 2), 100));
	assert_true(live->young == UINT32_MAX && live->ages[2] == UINT32_MAX);
	assert_true(live->sizes[6] == UINT32_MAX);
	assert_true(live->blocks == (UINT64_C(1) << 32) + 2);
}

TEST(births_of_the_living_are_parts_of_the_time)
{
	const struct seg_live *live;
	uint32_t site, last, i;

	assert_int_equal(fresh_segment(state), 0);
	for (i = 0; i < 40; i++) /* rows are no power of 2 */
		site = make_site(100 + i);
	for (i = 0; i < 3200; i++)
		assert_true(ledger_fold_live(site, 8, i, 3199));
	assert_true(ledger_fold_live(site, 8, 4000, 3199)); /* meanwhile */
	live = row_of_kind(SEG_EXT_LIVE, site);
	for (i = 0; i < SEG_BIRTH_SLOTS; i++)
		assert_int_equal(live->births[i], i < 31 ? 100 : 101);
	assert_int_equal(live->young, 17); /* and that one is no older */
	last = seg_birth_slot(0, 0);
	assert_int_equal(last, SEG_BIRTH_SLOTS - 1);
	assert_int_equal(seg_birth_slot(0, 5), 0);
	assert_int_equal(seg_birth_slot(UINT32_MAX - 1, UINT32_MAX), 31);
	assert_int_equal(seg_birth_slot(UINT32_MAX / 2, UINT32_MAX), 15);
	assert_int_equal(seg_birth_slot(7, 3), 31);
	/* neighbours have their own rows */
	live = row_of_kind(SEG_EXT_LIVE, site - 1);
	assert_int_equal(live->blocks, 0);
}

/* As a reader: which sites have a row of the living, and what is in them? */
static uint64_t blocks_of_the_living(uint8_t *seen, uint32_t sites)
{
	const uint8_t *base = (const uint8_t *)segment.header;
	const struct seg_extent *dir =
	    (const struct seg_extent *)(const void *)(base + SEG_HEADER_BYTES);
	uint64_t sum = 0;
	uint32_t i, k;

	for (i = 0; i < segment.header->dir_used; i++) {
		const struct seg_live *rows =
		    (const struct seg_live *)(const void *)(base + dir[i].offset);

		if (dir[i].kind != SEG_EXT_LIVE)
			continue;
		assert_true(dir[i].offset + dir[i].count * sizeof(*rows) <= segment.used);
		for (k = 0; k < dir[i].count; k++) {
			uint64_t site = dir[i].first + k;

			/* each row in one extent only */
			assert_true(site >= sites || !seen[site]);
			if (site < sites)
				seen[site] = 1;
			sum += rows[k].blocks;
		}
	}
	return sum;
}

TEST(rows_of_the_living_share_extents)
{
	enum { MANY = 40000 };
	static uint8_t seen[MANY + 2];
	uint64_t before, few;
	uint32_t i;

	assert_int_equal(fresh_segment(state), 0);
	for (i = 1; i <= MANY; i++)
		assert_int_equal(make_site(1000 + i), 1 + i);
	before = segment.used;
	for (i = 2; i < 10000; i += 100)
		assert_true(ledger_fold_live(i, 8, 0, 1));
	/* two rows of 384 bytes each, not extents of 8 KiB */
	few = segment.used - before;
	assert_true(few >= 100 * 768 && few <= 110 * 768 + SEG_EXTENT_STEP);
	/* the directory does not suffice for all of them one by one */
	for (i = 2; i < MANY; i += 4)
		assert_true(ledger_fold_live(i, 8, 0, 1));
	assert_true(segment.dir_used < segment.dir_capacity);
	memset(seen, 0, sizeof(seen));
	assert_int_equal(blocks_of_the_living(seen, sizeof(seen)), 100 + (MANY - 2 + 3) / 4);
	for (i = 2; i < MANY; i += 4)
		assert_int_equal(seen[i], 1);
}

/* Each new maximum is an epoch: a buffer that grows by bytes has 2^32. */
TEST(the_peak_is_right_after_2_to_the_32_of_them)
{
	int64_t live, now;
	struct thread *t;
	uint32_t a, b;

	assert_int_equal(fresh_segment(state), 0);
	t = new_thread(0);
	a = make_site(1);
	b = make_site(2);
	assert_true(ledger_alloc(t, a, 100));
	ledger_word |= UINT64_C(0xfffffffe) << 32;
	for (int i = 0; i < 5; i++)
		assert_true(ledger_alloc(t, b, 10));
	assert_true((uint32_t)(ledger_word >> 32) < 8);
	assert_true(ledger_free(t, a, 60));
	assert_true(ledger_free(t, b, 10));
	assert_int_equal(segment.header->peak_bytes, 150);
	assert_int_equal(peak_of(&t, 1, a, &live), 100);
	assert_int_equal(live, 40);
	assert_int_equal(peak_of(&t, 1, b, &now), 50);
	free(t);
}

/* Children of children have ever higher ids, and a cell 26 bits for one. */
TEST(the_last_ids_are_given_out_and_no_more)
{
	const uint32_t end = 1u << SEG_SITE_BITS;
	struct site_id s;
	uint32_t i;

	assert_int_equal(fresh_segment(state), 0);
	assert_true(sites_init(end - 10));
	for (i = 1; i < 10; i++)
		assert_int_equal(make_site(i), end - 10 + i);
	assert_int_equal(segment.header->counts[SEG_LOST_SITES], 0);
	for (i = 10; i < 20; i++) {
		s.v = make_site(i);
		assert_int_equal(s.v, end - 10); /* "(no room)" */
	}
	assert_int_equal(segment.header->counts[SEG_LOST_SITES], 10);
	assert_int_equal(sites_next_id(), end);
	assert_false(sites_init(sites_next_id()));
	assert_true(sites_init(1));
}

static uint64_t times_freed(uint32_t site, uint64_t pc)
{
	const struct seg_info *info = site_info_peek(site);

	for (int i = 0; info && i < SEG_FREERS; i++)
		if (SEG_FRAME_PC(info->freed_by[i]) == pc)
			return info->freed_by_count[i];
	return 0;
}

/* Instead of _dl_find_object: addresses are in no module. */
static int finds_nothing(void *pc, void *ret)
{
	(void)pc;
	(void)ret;
	return -1;
}

TEST_WITH(who_frees_most_is_kept_among_many, fresh_segment, NULL)
{
	uint32_t site = make_site(77);
	uint64_t i;

	assert_true(module_init((void *)finds_nothing, ""));
	segment.memory.anonymous = false; /* as after the first events */
	segment.open = segment.used;      /* nothing is to spare */
	ledger_freed_by(site, 0x1000);
	assert_int_equal(segment.header->counts[SEG_LOST_FREERS], 1);
	segment.open = segment.used + (1 << 20);
	for (i = 0; i < 100000; i++) {
		ledger_freed_by(site, 0x1000);
		if (i % 2)
			ledger_freed_by(site, 0x2000);
		ledger_freed_by(site, 0x100000 + 16 * (i % 500));
	}
	/* halved together: their ratio holds, the others share the rest */
	assert_true(times_freed(site, 0x1000) > 20000);
	assert_in_range(times_freed(site, 0x2000) * 100 / times_freed(site, 0x1000), 45, 65);
	segment.memory.anonymous = true;
}

TEST_WITH(first_events_and_unknown_callers_are_not_noted, fresh_segment, NULL)
{
	uint32_t site = make_site(78);

	ledger_freed_by(site, 0x1000); /* little memory */
	segment.memory.anonymous = false;
	ledger_freed_by(site, 0);
	ledger_freed_by(0, 0x1000); /* inherited */
	assert_int_equal(times_freed(site, 0x1000), 0);
	assert_int_equal(segment.header->counts[SEG_LOST_FREERS], 0);
	segment.memory.anonymous = true;
}

/* test_c_ledger.c - promises of ledger.h, sites.h, index.h and segment.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "collector/ledger.h"
#include "collector/segment.h"
#include "collector/sites.h"

enum { MIB = 1 << 20, SITES = 40, EVENTS = 200000 };

/* A segment in plain memory, as a forked child's first one is. */
static int
fresh_segment(void **state)
{
	size_t bytes = *state ? *(size_t *)*state : 64 * (size_t)MIB;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED || !segment_init_plain(p, bytes, bytes) ||
	        !sites_init(1) || !ledger_init(1)
	    ? -1
	    : 0;
}

static struct thread *
new_thread(uint32_t array)
{
	struct thread *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	assert_true(ledger_claim(t, array));
	return t;
}

static uint32_t
make_site(uint64_t frame)
{
	return sites_get(
	    SITES_NODE_ROOT, sites_inner(&frame, 1), SEG_API_MALLOC)
	    .v;
}

/* What a reader computes for one site from the arrays given. */
static int64_t
peak_of(struct thread **threads, int count, uint32_t site, int64_t *ret_live)
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

static void
one_thread_has_the_exact_peak_of_every_site(void **state)
{
	int64_t live[SITES] = {0}, at_peak[SITES] = {0};
	int64_t total = 0, peak = 0, seen, now;
	struct thread *t;
	uint32_t site[SITES];
	unsigned i, seed = 7;

	(void)state;
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

static void
the_peak_of_many_threads_is_never_far_off(void **state)
{
	enum { N = 8 };
	struct thread *t[N];
	int64_t live[N] = {0}, total = 0, peak = 0, seen = 0, now;
	uint32_t site[N];
	unsigned i, seed = 11;

	(void)state;
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

static void
one_stack_has_one_id_and_another_stack_another(void **state)
{
	uint64_t frames[6] = {1, 2, 3, 4, 5, 6};
	uint32_t node, inner, i, ids[5000];
	uint64_t back[16];
	struct site_id s;

	(void)state;
	assert_int_equal(fresh_segment(state), 0);
	node = sites_node(sites_node(SITES_NODE_ROOT, 100), 200);
	assert_int_equal(
	    node, sites_node(sites_node(SITES_NODE_ROOT, 100), 200));
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
		assert_int_equal(
		    sites_frames((struct site_id){ids[i]}, back, 16), 1);
		assert_int_equal(back[0], 10000 + i);
	}
}

/* A small segment fills up: first outer frames go, then "(no room)". */
static void
a_full_segment_drops_outer_frames_then_goes_to_no_room(void **state)
{
	size_t bytes = 512 << 10;
	void *size = &bytes;
	uint32_t i, node = 1;
	uint64_t frame;

	(void)state;
	assert_int_equal(fresh_segment(&size), 0);
	for (i = 0; i < 100000 && node; i++)
		node = sites_node(SITES_NODE_ROOT, 1 + i);
	assert_int_equal(node, 0);
	frame = 7;
	assert_int_not_equal(sites_get(SITES_NODE_OUTER_DROPPED,
	                         sites_inner(&frame, 1), SEG_API_MALLOC)
	                         .v,
	    1);
	assert_int_equal(segment.header->counts[SEG_OUTER_DROPPED], 1);
	for (frame = 100; frame < 100000; frame++)
		sites_get(SITES_NODE_OUTER_DROPPED, sites_inner(&frame, 1),
		    SEG_API_MALLOC);
	assert_int_equal(sites_get(SITES_NODE_OUTER_DROPPED,
	                     sites_inner(&frame, 1), SEG_API_MALLOC)
	                     .v,
	    1);
	assert_true(segment.header->counts[SEG_LOST_SITES] > 0);
	assert_true(segment.used <= bytes);
}

static void *
intern_the_same(void *arg)
{
	uint64_t i;

	for (i = 0; i < 20000; i++)
		make_site(500000 + i);
	return arg;
}

static void
threads_that_intern_at_once_lose_nothing(void **state)
{
	pthread_t t[4];
	uint64_t back[4];
	uint32_t i;

	(void)state;
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_thread_has_the_exact_peak_of_every_site),
	    cmocka_unit_test(the_peak_of_many_threads_is_never_far_off),
	    cmocka_unit_test(one_stack_has_one_id_and_another_stack_another),
	    cmocka_unit_test(
	        a_full_segment_drops_outer_frames_then_goes_to_no_room),
	    cmocka_unit_test(threads_that_intern_at_once_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_session.c - promises of session/process/process.h and session/load/session.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "../lib/mkseg.h"
#include "segments/find/proc.h"
#include "segments/read/segfile.h"
#include "session/load/session.h"
#include "recording/file/recording.h"

static const uint64_t one_frame[] = {MKSEG_FRAME(1, 0x1010)};

TEST(sums_over_all_arrays_are_exact)
{
	struct mkseg *m = mkseg_new();
	uint32_t a = mkseg_stack(m, one_frame, 1);
	const struct process_figures *f;
	struct session *s;

	/* allocated here, freed there: only the sum makes sense */
	mkseg_book(m, 0, a, 100, 16, 0);
	mkseg_book(m, 5, a, 3, 16, 90);
	mkseg_book(m, 31, a, 7, 16, 1);
	s = mkseg_load(m);
	assert_int_equal(s->processes[0]->site_count, 1);
	f = &s->processes[0]->sites[0].figures;
	assert_int_equal(f->allocations, 110);
	assert_int_equal(f->allocated_bytes, 1760);
	assert_int_equal(f->frees, 91);
	assert_int_equal(f->live_blocks, 19);
	assert_int_equal(f->live_bytes, 19 * 16);
	assert_memory_equal(
	    &s->processes[0]->totals.allocations, &f->allocations, 6 * sizeof(uint64_t));
	session_free(s);
}

TEST(peak_takes_the_snap_only_of_rows_changed_since)
{
	struct mkseg *m = mkseg_new();
	uint32_t a = mkseg_stack(m, one_frame, 1);
	const uint64_t other[] = {MKSEG_FRAME(1, 0x2020)};
	uint32_t b = mkseg_stack(m, other, 1);
	struct process *p;
	struct session *s;
	struct seg_row *row;

	mkseg_header(m)->peak_epoch = (UINT64_C(7) << 32) + 9;
	mkseg_header(m)->peak_bytes = 500;
	/* touched since the peak: what it had then was saved */
	mkseg_book(m, 0, a, 10, 100, 9);
	row = mkseg_row(m, 0, a);
	row->epoch = 9;
	row->snap_bytes = 300;
	row->snap_blocks = 3;
	/* not touched since: still as it was; an old epoch does not count */
	mkseg_book(m, 0, b, 4, 50, 0);
	row = mkseg_row(m, 0, b);
	row->epoch = 8;
	row->snap_bytes = 12345;
	s = mkseg_load(m);
	p = s->processes[0];
	assert_int_equal(p->sites[0].figures.peak_bytes, 300);
	assert_int_equal(p->sites[0].figures.peak_blocks, 3);
	assert_int_equal(p->sites[1].figures.peak_bytes, 200);
	assert_int_equal(p->sites[1].figures.peak_blocks, 4);
	assert_int_equal(p->totals.peak_bytes, 500);
	assert_int_equal(p->totals.peak_blocks, 7);
	assert_true(p->peak_exact);
	session_free(s);
}

TEST(peak_of_several_threads_is_not_called_exact)
{
	struct mkseg *m = mkseg_new();
	struct session *s;

	mkseg_book(m, 0, mkseg_stack(m, one_frame, 1), 1, 10, 0);
	mkseg_header(m)->threads = 2;
	mkseg_header(m)->peak_bytes = 10;
	s = mkseg_load(m);
	assert_false(s->processes[0]->peak_exact);
	session_free(s);
}

TEST(equal_stacks_are_one_site)
{
	const uint64_t frames[] = {MKSEG_FRAME(1, 1), MKSEG_FRAME(1, 2), MKSEG_FRAME(1, 3),
	    MKSEG_FRAME(1, 4), MKSEG_FRAME(1, 5), MKSEG_FRAME(1, 6), MKSEG_FRAME(1, 7),
	    MKSEG_FRAME(1, 8)};
	struct mkseg *m = mkseg_new();
	/* lost races: own inner record, own nodes, own id, same content */
	uint32_t a = mkseg_stack(m, frames, 8);
	uint32_t b = mkseg_stack(m, frames, 8);
	uint32_t c = mkseg_stack(m, frames, 7);
	struct process *p;
	struct session *s;

	mkseg_book(m, 0, a, 1, 10, 0);
	mkseg_book(m, 1, b, 2, 10, 1);
	mkseg_book(m, 0, c, 5, 10, 0);
	mkseg_info(m, a)->ages[0] = 3;
	mkseg_info(m, b)->ages[0] = 4;
	s = mkseg_load(m);
	p = s->processes[0];
	assert_int_equal(p->site_count, 2);
	assert_int_equal(p->sites[0].id, a);
	assert_int_equal(p->sites[0].figures.allocations, 3);
	assert_int_equal(p->sites[0].figures.live_bytes, 20);
	assert_int_equal(p->sites[0].ages->deaths[1], 7);
	assert_int_equal(p->sites[1].id, c);
	session_free(s);
}

TEST(site_never_filled_is_unknown_not_lost)
{
	struct mkseg *m = mkseg_new();
	struct session *s;
	uint64_t frames[4];
	uint32_t flags;

	mkseg_book(m, 0, 3, 2, 8, 0);   /* no record at all */
	mkseg_book(m, 0, 700, 1, 8, 0); /* beyond the table */
	(void)mkseg_site(m, 9);
	mkseg_book(m, 0, 9, 1, 8, 0); /* record of zeros */
	s = mkseg_load(m);
	assert_int_equal(s->processes[0]->site_count, 1);
	assert_int_equal(s->processes[0]->totals.live_bytes, 32);
	assert_int_equal(stacks_frames(s->processes[0]->stacks, s->processes[0]->sites[0].stack,
	                     frames, 4, &flags),
	    0);
	assert_true(flags & STACKS_UNKNOWN);
	session_free(s);
}

TEST(parents_in_a_circle_end_the_stack)
{
	struct mkseg *m = mkseg_new();
	uint64_t frames[32];
	uint32_t flags, id = mkseg_stack(m, one_frame, 1);
	uint32_t a = mkseg_node(m, MKSEG_FRAME(1, 0xa), 0, 0);
	uint32_t b = mkseg_node(m, MKSEG_FRAME(1, 0xb), a, 0);
	struct session *s;
	size_t n;

	mkseg_node_at(m, a)->parent = b;
	mkseg_site(m, id)->node = b;
	mkseg_book(m, 0, id, 1, 1, 0);
	id = mkseg_stack(m, one_frame, 1);
	mkseg_site(m, id)->node = 4000000000; /* no such node */
	mkseg_book(m, 0, id, 1, 1, 0);
	id = mkseg_stack(m, one_frame, 1);
	mkseg_site(m, id)->inner = 4000000000;
	mkseg_book(m, 0, id, 1, 1, 0);
	s = mkseg_load(m);
	assert_int_equal(s->processes[0]->site_count, 3);
	for (size_t i = 0; i < 3; i++) {
		n = stacks_frames(
		    s->processes[0]->stacks, s->processes[0]->sites[i].stack, frames, 32, &flags);
		assert_true(n <= 4);
		assert_true(flags & STACKS_UNKNOWN);
	}
	session_free(s);
}

TEST(a_run_stands_for_its_frames)
{
	const uint64_t run[] = {MKSEG_FRAME(1, 0x11), MKSEG_FRAME(1, 0x12), MKSEG_FRAME(1, 0x13)};
	struct mkseg *m = mkseg_new();
	uint32_t outer = mkseg_node(m, MKSEG_FRAME(1, 0xa), 0, 0);
	uint32_t inner = mkseg_inner(m, run, 3, 0);
	uint32_t node = mkseg_node(m, inner, outer, SEG_NODE_RUN);
	uint32_t a = mkseg_stack(m, one_frame, 1);
	uint32_t b = mkseg_stack(m, one_frame, 1);
	uint32_t wrong = mkseg_stack(m, one_frame, 1);
	uint64_t frames[32];
	struct process *p;
	struct session *s;
	uint32_t flags;

	mkseg_header(m)->version = SEG_VERSION_RUNS;
	mkseg_site(m, a)->node = mkseg_node(m, inner, node, SEG_NODE_RUN);
	/* the same frames one by one are the same stack */
	for (int twice = 0; twice < 2; twice++)
		for (int i = 2; i >= 0; i--)
			outer = mkseg_node(m, run[i], outer, 0);
	mkseg_site(m, b)->node = outer;
	mkseg_site(m, wrong)->node = mkseg_node(m, 4000000000, node, SEG_NODE_RUN);
	mkseg_book(m, 0, a, 1, 10, 0);
	mkseg_book(m, 0, b, 2, 10, 0);
	mkseg_book(m, 0, wrong, 4, 10, 0);
	s = mkseg_load(m);
	p = s->processes[0];
	assert_int_equal(p->site_count, 2);
	assert_int_equal(p->sites[0].figures.allocations, 3);
	assert_int_equal(stacks_frames(p->stacks, p->sites[0].stack, frames, 32, &flags), 8);
	assert_int_equal(flags, 0);
	assert_int_equal(frames[0], one_frame[0]);
	assert_memory_equal(frames + 1, run, sizeof(run));
	assert_memory_equal(frames + 4, run, sizeof(run));
	assert_int_equal(frames[7], MKSEG_FRAME(1, 0xa));
	/* a run whose record is missing is a gap, and the rest is there */
	assert_int_equal(stacks_frames(p->stacks, p->sites[1].stack, frames, 32, &flags), 5);
	assert_int_equal(flags, STACKS_UNKNOWN);
	session_free(s);
}

TEST(long_stack_is_cut_at_the_callers_limit)
{
	struct mkseg *m = mkseg_new();
	uint32_t flags, node = 0, id = mkseg_stack(m, one_frame, 1);
	uint64_t frames[100];
	struct session *s;

	for (uint64_t i = 0; i < 900; i++)
		node = mkseg_node(m, MKSEG_FRAME(1, i + 1), node, 0);
	mkseg_site(m, id)->node = node;
	mkseg_book(m, 0, id, 1, 1, 0);
	s = mkseg_load(m);
	assert_int_equal(stacks_frames(s->processes[0]->stacks, s->processes[0]->sites[0].stack,
	                     frames, 100, &flags),
	    100);
	assert_true(flags & STACKS_UNKNOWN);
	session_free(s);
}

TEST(more_frees_than_allocations_are_no_huge_number)
{
	struct mkseg *m = mkseg_new();
	uint32_t id = mkseg_stack(m, one_frame, 1);
	struct session *s;
	struct seg_row *row;

	mkseg_book(m, 0, id, 1, 8, 5);
	row = mkseg_row(m, 1, id);
	row->allocations = UINT64_MAX;
	row->allocated_bytes = UINT64_MAX;
	row = mkseg_row(m, 2, id);
	row->frees = UINT64_MAX;
	row->snap_bytes = INT64_MIN;
	row->epoch = 1;
	mkseg_header(m)->peak_bytes = UINT64_MAX;
	s = mkseg_load(m);
	assert_int_equal(s->processes[0]->sites[0].figures.allocations, UINT64_MAX);
	assert_int_equal(s->processes[0]->sites[0].figures.live_blocks, 0);
	assert_int_equal(s->processes[0]->sites[0].figures.peak_bytes, 0);
	session_free(s);
}

/* What 32 bits cannot tell, and rows of older collectors that have no more. */
TEST(wide_figures_are_read_from_rows_of_both_lengths)
{
	for (int old = 0; old < 2; old++) {
		struct mkseg *m = mkseg_new();
		uint32_t id = mkseg_stack(m, one_frame, 1);
		struct seg_info *info = mkseg_info(m, id);
		uint64_t deaths[PROCESS_AGES];
		const struct process_site *site;
		struct session *s;
		struct seg_row *row;

		mkseg_book(m, 0, id, UINT64_C(5) << 32, 0, UINT64_C(5) << 32);
		row = mkseg_row(m, 0, id);
		row->size_min = UINT32_MAX;
		info->ages[3] = 17;
		info->ages_high[3] = 4;
		info->size_max = UINT64_C(9) << 30;
		info->size_min = UINT64_C(5) << 30;
		if (old)
			mkseg_shorten(m, SEG_EXT_INFO, SEG_INFO_OLD_BYTES);
		s = mkseg_load(m);
		site = &s->processes[0]->sites[0];
		assert_true(site->size_max == UINT64_C(9) << 30);
		assert_true(site->size_min == (old ? UINT32_MAX : UINT64_C(5) << 30));
		process_deaths(site, deaths);
		assert_true(deaths[4] == 17 + (old ? 0 : UINT64_C(4) << 32));
		assert_true(deaths[0] + deaths[4] == UINT64_C(5) << 32);
		session_free(s);
	}
}

/* Threads may have made several records of a site at once. */
TEST(records_of_one_site_are_added_up)
{
	struct mkseg *m = mkseg_new();
	uint32_t id = mkseg_stack(m, one_frame, 1);
	const uint32_t other = id + 1;
	uint64_t deaths[PROCESS_AGES];
	const struct process_site *site;
	struct seg_info *info;
	struct seg_row *row;
	struct session *s;

	mkseg_book(m, 0, id, 100, 0, 100);
	row = mkseg_row(m, 0, id);
	row->size_min = UINT32_MAX;
	for (uint32_t i = 0; i < 3; i++) {
		info = mkseg_site_info(m, i == 1 ? other : id);
		info->ages[3] = 17;
		info->size_max = (UINT64_C(9) + i) << 30;
		info->size_min = (UINT64_C(7) - i) << 30;
		info->freed_by[0] = 0x1234;
		info->freed_by_count[0] = 5;
	}
	(void)mkseg_site_info(m, 0);
	(void)mkseg_site_info(m, UINT32_MAX);
	s = mkseg_load(m);
	site = &s->processes[0]->sites[0];
	assert_true(site->size_max == UINT64_C(11) << 30);
	assert_true(site->size_min == UINT64_C(5) << 30);
	process_deaths(site, deaths);
	assert_int_equal(deaths[4], 34);
	assert_non_null(site->freed_by);
	assert_int_equal(site->freed_by->count, 1);
	assert_int_equal(site->freed_by->at[0].count, 10);
	session_free(s);
}

/* Steps below 1.6 s are sums over arrays; an older collector has none. */
TEST(young_deaths_are_known_in_steps)
{
	for (int old = 0; old < 2; old++) {
		struct mkseg *m = mkseg_new();
		uint32_t id = mkseg_stack(m, one_frame, 1);
		uint64_t deaths[PROCESS_AGES], steps[PROCESS_STEPS];
		const struct process_site *site;
		struct session *s;

		mkseg_book(m, 0, id, 100, 8, 90);
		mkseg_info(m, id)->ages[0] = 10;
		if (!old) {
			mkseg_header(m)->counted_ticks = SEG_COUNTED_TICKS;
			mkseg_ages(m, 0, id)->deaths[0] = 7;
			mkseg_ages(m, 31, id)->deaths[0] = 5;
			mkseg_ages(m, 31, id)->deaths[3] = 9;
			/* of a site that is in no ledger */
			mkseg_ages(m, 2, id + 1)->deaths[1] = 3;
		}
		s = mkseg_load(m);
		assert_int_equal(s->processes[0]->temporary_ticks,
		    old ? SEG_YOUNG_TICKS : PROCESS_TEMPORARY_TICKS);
		site = &s->processes[0]->sites[0];
		process_deaths(site, deaths);
		assert_int_equal(deaths[0], 80);
		assert_int_equal(deaths[1], 10);
		process_young(site->ages, deaths[0], steps);
		assert_int_equal(steps[0], old ? 80 : 59);
		assert_int_equal(steps[1], old ? 0 : 12);
		assert_int_equal(steps[2], 0);
		assert_int_equal(steps[3], 0);
		assert_int_equal(steps[4], old ? 0 : 9);
		session_free(s);
	}
}

/* Figures of a damaged file: more deaths than frees, and sums beyond 2^64. */
TEST(young_deaths_are_never_more_than_the_frees)
{
	struct mkseg *m = mkseg_new();
	uint32_t id = mkseg_stack(m, one_frame, 1);
	uint64_t steps[PROCESS_STEPS], sum = 0;
	struct session *s;

	mkseg_header(m)->counted_ticks = SEG_COUNTED_TICKS;
	mkseg_book(m, 0, id, 100, 8, 90);
	mkseg_ages(m, 0, id)->deaths[2] = UINT64_MAX - 1;
	mkseg_ages(m, 1, id)->deaths[2] = 5;
	mkseg_ages(m, 1, id)->deaths[1] = 60;
	s = mkseg_load(m);
	process_young(s->processes[0]->sites[0].ages, 90, steps);
	for (int i = 0; i < PROCESS_STEPS; i++)
		sum += steps[i];
	assert_int_equal(sum, 90);
	assert_int_equal(steps[2], 60);
	assert_int_equal(steps[3], 30);
	session_free(s);
}

TEST(young_deaths_without_a_ledger_are_none)
{
	struct mkseg *m = mkseg_new();
	uint32_t id = mkseg_stack(m, one_frame, 1);
	struct session *s;

	mkseg_header(m)->counted_ticks = SEG_COUNTED_TICKS;
	mkseg_ages(m, 0, id)->deaths[2] = 5;
	s = mkseg_load(m);
	assert_int_equal(s->processes[0]->site_count, 0);
	session_free(s);
}

/* 2^40 blocks of 1 GiB, all freed but three: 2^70 bytes in rows of 2^64. */
TEST(bytes_beyond_2_to_the_64_stop_there_and_live_ones_stay)
{
	static const uint64_t size = UINT64_C(1) << 30;
	struct mkseg *m = mkseg_new();
	uint32_t id = mkseg_stack(m, one_frame, 1);
	const struct process *p;
	struct session *s;

	mkseg_book(m, 0, id, (UINT64_C(1) << 40) + 5, size, 0);
	mkseg_book(m, 1, id, 0, size, (UINT64_C(1) << 40) + 2);
	s = mkseg_load(m);
	p = s->processes[0];
	assert_true(p->totals.allocated_bytes == UINT64_MAX);
	assert_true(p->totals.live_bytes == 3 * size);
	assert_true(p->totals.live_blocks == 3);
	assert_string_equal(p->doubt.text, "");
	session_free(s);
	/* sizes differ: the smallest alone proves nothing */
	m = mkseg_new();
	id = mkseg_stack(m, one_frame, 1);
	mkseg_book(m, 0, id, (UINT64_C(1) << 34) + 3, size, 1);
	mkseg_row(m, 0, id)->frees = UINT64_C(1) << 34;
	mkseg_row(m, 0, id)->freed_bytes = UINT64_MAX - size + 1;
	mkseg_row(m, 0, id)->allocated_bytes = size;
	mkseg_row(m, 0, id)->size_min = 8;
	mkseg_row(m, 0, id)->size_span = (uint32_t)size - 8;
	s = mkseg_load(m);
	assert_true(s->processes[0]->totals.allocated_bytes == UINT64_MAX);
	assert_true(s->processes[0]->totals.live_bytes == 2 * size);
	session_free(s);
	/* frees of what was never there are no such thing */
	m = mkseg_new();
	id = mkseg_stack(m, one_frame, 1);
	mkseg_book(m, 0, id, 10, 8, 20);
	s = mkseg_load(m);
	assert_int_equal(s->processes[0]->totals.allocated_bytes, 80);
	assert_int_equal(s->processes[0]->totals.live_bytes, 0);
	session_free(s);
}

/* A small block beside a huge one: the row knows the smallest. */
TEST(a_small_block_is_the_smallest_beside_a_huge_one)
{
	struct mkseg *m = mkseg_new();
	uint32_t id = mkseg_stack(m, one_frame, 1);
	const struct process_site *site;
	struct session *s;

	mkseg_book(m, 0, id, 2, 8, 0);
	mkseg_row(m, 0, id)->size_span = UINT32_MAX - 8;
	mkseg_book(m, 3, id, 1, 0, 0);
	mkseg_row(m, 3, id)->size_min = UINT32_MAX;
	mkseg_info(m, id)->size_max = UINT64_C(9) << 30;
	mkseg_info(m, id)->size_min = UINT64_C(5) << 30;
	s = mkseg_load(m);
	site = &s->processes[0]->sites[0];
	assert_int_equal(site->size_min, 8);
	assert_true(site->size_max == UINT64_C(9) << 30);
	session_free(s);
}

TEST(sampled_variances_are_read_from_rows_of_both_lengths)
{
	for (int old = 0; old < 2; old++) {
		struct mkseg *m = mkseg_new();
		uint32_t id = mkseg_stack(m, one_frame, 1);
		double want = old ? 0 : 3 * 18446744073709551616.0;
		const struct process_site *site;
		struct session *s;

		mkseg_header(m)->sample_bytes = 4096;
		mkseg_book(m, 0, id, 100, 64, 50);
		*mkseg_sample(m, 0, id) = (struct seg_sample){.samples = 10,
		    .variance_allocated = 900,
		    .variance_allocated_high = 5,
		    .variance_freed = 100,
		    .variance_freed_high = 2};
		if (old)
			mkseg_shorten(m, SEG_EXT_SAMPLE, SEG_SAMPLE_OLD_BYTES);
		s = mkseg_load(m);
		site = &s->processes[0]->sites[0];
		assert_true(site->variance_live >= want + (old ? 800 : 0) &&
		    site->variance_live <= want * 1.000001 + 800);
		session_free(s);
	}
	assert_true(process_error(3.4e38 * 100) == UINT64_MAX);
}

/* One sample of ten died old: so did a tenth of what they stand for. */
TEST(ages_of_sampled_blocks_are_estimates_too)
{
	struct mkseg *m = mkseg_new();
	uint32_t id = mkseg_stack(m, one_frame, 1);
	uint64_t deaths[PROCESS_AGES], steps[PROCESS_STEPS];
	struct session *s;

	mkseg_header(m)->sample_bytes = 4096;
	mkseg_book(m, 0, id, 5000, 64, 1000);
	mkseg_sample(m, 0, id)->samples = 50;
	mkseg_sample(m, 0, id)->sampled_frees = 10;
	mkseg_info(m, id)->ages[2] = 1;
	mkseg_info(m, id)->ages[5] = 3;
	mkseg_header(m)->counted_ticks = SEG_COUNTED_TICKS;
	mkseg_ages(m, 0, id)->deaths[3] = 1;
	mkseg_ages(m, 7, id)->deaths[3] = 1;
	s = mkseg_load(m);
	process_deaths(&s->processes[0]->sites[0], deaths);
	assert_int_equal(deaths[0], 600);
	assert_int_equal(deaths[3], 100);
	assert_int_equal(deaths[6], 300);
	process_young(s->processes[0]->sites[0].ages, deaths[0], steps);
	assert_int_equal(steps[0], 400);
	assert_int_equal(steps[4], 200);
	session_free(s);
}

TEST(frames_of_unknown_modules_have_none)
{
	struct mkseg *m = mkseg_new();
	struct session *s;

	assert_int_equal(mkseg_module(m, "/lib/a.so", 0x1000), 1);
	assert_int_equal(mkseg_module(m, "/lib/b.so", 0x9000), 2);
	mkseg_module_at(m, 2)->path = UINT64_MAX - 3; /* out of the strings */
	mkseg_module_at(m, 1)->build_id_bytes = 255;
	s = mkseg_load(m);
	assert_string_equal(process_module(s->processes[0], MKSEG_FRAME(1, 5))->path, "/lib/a.so");
	assert_int_equal(s->processes[0]->modules[1].build_id_bytes, 0);
	assert_null(process_module(s->processes[0], MKSEG_FRAME(2, 5))->path);
	assert_null(process_module(s->processes[0], MKSEG_FRAME(3, 5)));
	assert_null(process_module(s->processes[0], MKSEG_FRAME(65535, 5)));
	assert_null(process_module(s->processes[0], 5));
	session_free(s);
}

TEST(forked_children_in_slots_are_processes_of_their_own)
{
	struct mkseg *m = mkseg_new(), *child = mkseg_new();
	struct session *s;
	size_t len;
	void *bytes;

	mkseg_header(child)->pid = 4243;
	mkseg_header(child)->ppid = 4242;
	mkseg_header(child)->first_id = 1;
	mkseg_header(child)->end_kind = SEG_END_EXITED;
	mkseg_book(child, 0, mkseg_stack(child, one_frame, 1), 1, 77, 0);
	bytes = mkseg_finish(child, &len);
	mkseg_child(m, "damaged!", 8); /* in the large slot */
	mkseg_child(m, bytes, len);    /* in a small one */
	mkseg_header(m)->counts[SEG_CHILDREN_UNTRACED] = 2;
	mkseg_untraced(m, 5); /* as told by those children */
	mkseg_book(m, 0, mkseg_stack(m, one_frame, 1), 1, 10, 0);
	s = mkseg_load(m);
	assert_int_equal(s->count, 2);
	assert_int_equal(s->processes[0]->header.pid, 4242);
	assert_int_equal(s->processes[1]->header.pid, 4243);
	assert_int_equal(s->processes[1]->end, PROCESS_EXITED);
	assert_int_equal(s->processes[1]->totals.live_bytes, 77);
	assert_int_equal(s->processes[0]->header.counts[SEG_CHILDREN_UNTRACED], 7);
	assert_int_equal(s->note_count, 1); /* about the damaged one */
	session_free(s);
	free(bytes);
	mkseg_free(child);
}

/* Writes bytes to a fresh file of a fresh directory; both paths stay. */
static void write_file(const char *dir, const char *name, const void *bytes, size_t len)
{
	char path[256];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	close(fd);
}

static void remove_files(const char *dir, const char *const *names)
{
	char path[256];

	for (; *names; names++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, *names);
		(void)unlink(path);
	}
	(void)rmdir(dir);
}

/* What the reader leaves out is a loss by name, and the whole is not whole. */
TEST(what_is_beyond_the_bounds_is_counted)
{
	for (int is_long = 0; is_long < 2; is_long++) {
		struct mkseg *m = mkseg_new();
		struct session *s;
		uint32_t module = mkseg_module(m, "/lib/liblong.so", 0x1000);

		if (is_long)
			mkseg_module_at(m, module)->path_bytes = 5000;
		s = mkseg_load(m);
		assert_int_equal(s->processes[0]->header.counts[SEG_LOST_MODULES], is_long);
		assert_int_equal(s->is_truncated, is_long);
		session_free(s);
	}
}

TEST(of_two_segments_of_one_pid_the_first_ended_by_exec)
{
	static const char *const names[] = {
	    "host-99999999-1.seg", "host-99999999-2.seg", "host-99999999-1.seg.ctl", "junk", NULL};
	char dir[] = "/tmp/seep-test.XXXXXX", path[256];
	struct session *s;

	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		struct mkseg *m = mkseg_new();
		size_t len;
		void *bytes;

		mkseg_header(m)->pid = 99999999;
		mkseg_header(m)->start_jiffies = 1234;
		mkseg_header(m)->uuid[0] = (uint8_t)(i + 1);
		mkseg_header(m)->start_monotonic_ns = 1000 + (uint64_t)i;
		mkseg_header(m)->start_realtime_ns += (uint64_t)i;
		bytes = mkseg_finish(m, &len);
		write_file(dir, names[i], bytes, len);
		free(bytes);
		mkseg_free(m);
	}
	write_file(dir, names[2], "x", 1);
	write_file(dir, names[3], "neither", 7);
	assert_int_equal(session_load(dir, &s, NULL), 0);
	assert_int_equal(s->count, 2);
	assert_int_equal(s->processes[0]->end, PROCESS_EXEC);
	assert_int_equal(s->processes[1]->end, PROCESS_GONE);
	assert_int_equal(s->note_count, 1); /* junk, but not the .ctl */
	session_free(s);
	/* also when only the first is asked for */
	(void)snprintf(path, sizeof(path), "%s/%s", dir, names[0]);
	assert_int_equal(session_load(path, &s, NULL), 0);
	assert_int_equal(s->count, 1);
	assert_int_equal(s->processes[0]->end, PROCESS_EXEC);
	session_free(s);
	remove_files(dir, names);
}

/* Its clock is coarse: it may seem to have started before its parent. */
TEST(a_forked_child_is_listed_behind_its_parent)
{
	static const char *const names[] = {
	    "host-99999998-1.seg", "host-99999999-2.seg", "host-99999999-3.seg", NULL};
	/* the parent, its child 9 ms earlier, and what that became by exec */
	static const uint64_t late_ns[] = {9000000, 0, 9000001};
	char dir[] = "/tmp/seep-test.XXXXXX";
	struct session *s;

	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 3; i++) {
		struct mkseg *m = mkseg_new();
		size_t len;
		void *bytes;

		mkseg_header(m)->pid = i ? 99999999 : 99999998;
		mkseg_header(m)->uuid[0] = (uint8_t)(i + 1);
		mkseg_header(m)->parent_uuid[0] = i == 1;
		mkseg_header(m)->start_realtime_ns += late_ns[i];
		bytes = mkseg_finish(m, &len);
		write_file(dir, names[i], bytes, len);
		free(bytes);
		mkseg_free(m);
	}
	assert_int_equal(session_load(dir, &s, NULL), 0);
	assert_int_equal(s->count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(s->processes[i]->header.uuid[0], i + 1);
	session_free(s);
	remove_files(dir, names);
}

TEST(empty_directory_and_missing_file_are_told_apart)
{
	static const char *const names[] = {NULL};
	char dir[] = "/tmp/seep-test.XXXXXX";
	struct session *s;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(session_load(dir, &s, NULL), -ENODATA);
	remove_files(dir, names);
	assert_int_equal(session_load(dir, &s, NULL), -ENOENT);
}

static uint64_t own_start_jiffies(void)
{
	unsigned long long start = 0;
	FILE *f = fopen("/proc/self/stat", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f,
	                     "%*d (%*[^)]) %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	                     "%*s %*s %*s %*s %*s %*s %*s %*s %llu",
	                     &start),
	    1);
	(void)fclose(f);
	return start;
}

/* We play the host: map a segment that says it is ours. */
TEST(mapped_segment_makes_a_process_alive)
{
	static const char *const names[] = {"host-1.seg", "copy.seg", NULL};
	char dir[] = "/tmp/seep-test.XXXXXX", path[256], copy[256];
	struct mkseg *m = mkseg_new();
	struct session *s;
	struct segfile *f;
	struct stat st;
	char found[4096];
	size_t len;
	int fd, slot;
	void *bytes, *map;

	assert_non_null(mkdtemp(dir));
	mkseg_header(m)->pid = (uint32_t)getpid();
	mkseg_header(m)->start_jiffies = own_start_jiffies();
	assert_int_equal(stat("/proc/self/ns/pid", &st), 0);
	mkseg_header(m)->pid_ns = st.st_ino;
	bytes = mkseg_finish(m, &len);
	write_file(dir, names[0], bytes, len);
	write_file(dir, names[1], bytes, len);
	(void)snprintf(path, sizeof(path), "%s/%s", dir, names[0]);
	(void)snprintf(copy, sizeof(copy), "%s/%s", dir, names[1]);

	/* not mapped: this process is something else by now */
	assert_int_equal(session_load_pid(getpid(), &s, NULL), -ENXIO);
	assert_int_equal(session_load(path, &s, NULL), 0);
	assert_int_equal(s->processes[0]->end, PROCESS_EXEC);
	session_free(s);

	fd = open(path, O_RDWR);
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	assert_int_equal(session_load(path, &s, NULL), 0);
	assert_int_equal(s->processes[0]->end, PROCESS_RUNNING);
	assert_int_equal(s->processes[0]->running_pid, getpid());
	session_free(s);
	/* a copy of it is a copy of a running process */
	assert_int_equal(session_load(copy, &s, NULL), 0);
	assert_int_equal(s->processes[0]->end, PROCESS_RUNNING);
	session_free(s);
	assert_int_equal(session_load_pid(getpid(), &s, NULL), 0);
	assert_int_equal(s->processes[0]->end, PROCESS_RUNNING);
	session_free(s);
	assert_int_equal(proc_open(getpid(), &f, &slot, found, NULL), 0);
	assert_int_equal(slot, SEGFILE_OWN);
	assert_true(proc_mapped(NULL, segfile_source(f)->device, segfile_source(f)->inode));
	segfile_close(f);
	munmap(map, len);
	remove_files(dir, names);
	free(bytes);
	mkseg_free(m);
}

TEST(forked_child_without_a_segment_is_asked_for_patience)
{
	static const char *const names[] = {"host-1.seg", NULL};
	char dir[] = "/tmp/seep-test.XXXXXX", path[256];
	struct mkseg *m = mkseg_new();
	struct session *s;
	size_t len;
	pid_t child;
	int fd, status;
	void *bytes, *map;

	assert_non_null(mkdtemp(dir));
	mkseg_header(m)->pid = (uint32_t)getpid();
	mkseg_header(m)->start_jiffies = own_start_jiffies();
	bytes = mkseg_finish(m, &len);
	write_file(dir, names[0], bytes, len);
	(void)snprintf(path, sizeof(path), "%s/%s", dir, names[0]);
	fd = open(path, O_RDWR);
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	close(fd);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	assert_int_equal(session_load_pid(child, &s, NULL), -EAGAIN);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(session_load_pid(child, &s, NULL), -ESRCH);
	munmap(map, len);
	remove_files(dir, names);
	free(bytes);
	mkseg_free(m);
}

TEST(recording_carries_how_processes_ended)
{
	struct recording_segment head = {
	    .end_kind = RECORDING_END_KILLED, .exit_status = -1, .signal = 9};
	char dir[] = "/tmp/seep-test.XXXXXX", path[256], cut[256];
	static const char *const names[] = {"r", "cut", NULL};
	struct mkseg *m = mkseg_new();
	struct recording_writer *w;
	struct session *s;
	struct stat st;
	size_t len;
	void *bytes;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/r", dir);
	(void)snprintf(cut, sizeof(cut), "%s/cut", dir);
	bytes = mkseg_finish(m, &len);
	assert_int_equal(recording_create(path, RECORDING_REFUSE, &w), 0);
	assert_int_equal(
	    recording_append(w, RECORDING_SEGMENT, &head, sizeof(head), bytes, len), 0);
	assert_int_equal(recording_append(w, RECORDING_UNTRACED,
	                     "pid=7\nexe=/bin/static\nreason=static", 35, NULL, 0),
	    0);
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(session_load(path, &s, NULL), 0);
	assert_int_equal(s->count, 1);
	assert_int_equal(s->processes[0]->end, PROCESS_KILLED);
	assert_int_equal(s->processes[0]->signal, 9);
	assert_int_equal(s->processes[0]->exit_status, -1);
	assert_int_equal(s->note_count, 1);
	assert_string_equal(s->notes[0], "process 7 (/bin/static) was not traced: static");
	assert_false(s->is_truncated);
	session_free(s);

	/* every prefix of it: an error, or what is left with a word on it */
	assert_int_equal(stat(path, &st), 0);
	for (off_t n = st.st_size - 1; n >= 0; n -= 1 + n / 40) {
		int fd = open(path, O_RDONLY);
		char *part = malloc((size_t)n + 1);

		assert_int_equal(read(fd, part, (size_t)n), n);
		close(fd);
		write_file(dir, "cut", part, (size_t)n);
		free(part);
		if (session_load(cut, &s, NULL) == 0) {
			assert_true(s->is_truncated);
			session_free(s);
		}
	}
	remove_files(dir, names);
	free(bytes);
	mkseg_free(m);
}

/* Else seep check would say yes to what it could not read. */
TEST(recording_with_a_damaged_process_is_not_whole)
{
	const struct recording_segment head = {.end_kind = RECORDING_END_EXITED};
	char dir[] = "/tmp/seep-test.XXXXXX", path[256];
	static const char *const names[] = {"r", NULL};
	struct mkseg *m = mkseg_new();
	struct recording_writer *w;
	struct session *s;
	size_t len;
	uint8_t *bytes;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/r", dir);
	bytes = mkseg_finish(m, &len);
	assert_int_equal(recording_create(path, RECORDING_REFUSE, &w), 0);
	for (int damaged = 0; damaged < 2; damaged++) {
		struct seg_header *h = (struct seg_header *)bytes;

		h->dir_offset += damaged ? UINT64_C(1) << 40 : 0;
		assert_int_equal(
		    recording_append(w, RECORDING_SEGMENT, &head, sizeof(head), bytes, len), 0);
	}
	assert_int_equal(recording_finish(w), 0);
	assert_int_equal(session_load(path, &s, NULL), 0);
	assert_int_equal(s->count, 1);
	assert_true(s->is_truncated);
	assert_int_equal(s->note_count, 1);
	assert_non_null(strstr(s->notes[0], "a process left out"));
	session_free(s);
	remove_files(dir, names);
	free(bytes);
	mkseg_free(m);
}

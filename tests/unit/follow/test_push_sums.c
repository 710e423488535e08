/* test_push_sums.c - processes are added up by stack, and profiles have all of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "mkseg.h"
#include "follow/push/message.h"
#include "follow/push/sender.h"
#include "push_request.h"
#include "view/sites/view.h"

static const struct names_options naming = {.no_symbols = true};

/* A process with `sites` stacks; site i has i + 1 blocks of 10, one is freed. */
struct host {
	struct mkseg *m;
	struct segfile *file;
	void *bytes; /* of the file */
	size_t sites;
};

static void open_host(struct host *h)
{
	size_t len;

	h->bytes = mkseg_finish(h->m, &len);
	assert_int_equal(segfile_open_bytes(h->bytes, len, &h->file, NULL), 0);
}

static void begin_host(struct host *h, size_t sites, uint64_t base)
{
	uint32_t module;

	*h = (struct host){.m = mkseg_new_rows((uint32_t)sites * 2 + 100), .sites = sites};
	module = mkseg_module(h->m, "/bin/host", base);
	for (size_t i = 0; i < sites; i++) {
		const uint64_t frames[] = {
		    MKSEG_FRAME(module, base + 0x1000 + 16 * i), MKSEG_FRAME(module, base + 0x10)};
		uint32_t id = mkseg_stack(h->m, frames, 2);

		mkseg_book(h->m, 0, id, i + 1, 10, 1);
	}
	open_host(h);
}

static void end_host(struct host *h)
{
	segfile_close(h->file);
	free(h->bytes);
	mkseg_free(h->m);
}

static void read_into(
    struct stack_sums *s, struct reading_past *past, const struct host *h, bool has_ended)
{
	const struct reading_plan plan = {
	    .file = h->file, .slot = SEGFILE_OWN, .has_ended = has_ended, .naming = &naming};
	size_t merged = 0;

	assert_int_equal(reading_take(s, past, &plan, &merged), 0);
}

static struct profile_seen profile_of(struct stack_sums *s)
{
	const struct export_moment moment = {.now_ns = 1800000000, .since_ns = 1700000000};
	struct profile p = {0};
	struct profile_seen seen = {0};

	assert_int_equal(profile_make(s, &moment, &p), 0);
	push_request_profile((struct bytes){p.bytes, p.bytes + p.len}, &seen);
	assert_int_equal(seen.unpacked, p.unpacked);
	assert_int_equal(seen.samples, p.samples);
	assert_true(seen.samples <= PROFILE_SAMPLES);
	assert_true(seen.unpacked <= PROFILE_UNPACKED);
	/* nothing that makes series, and nothing of the command line */
	assert_int_equal(seen.labels + seen.comments, 0);
	assert_int_equal(seen.time_ns, 1800000000);
	free(p.bytes);
	return seen;
}

static uint64_t sum_to(uint64_t n)
{
	return n * (n + 1) / 2;
}

TEST(processes_of_a_service_are_one)
{
	struct reading_past past[2] = {0};
	struct stack_sums s;
	struct host a, b;
	struct profile_seen p;

	assert_int_equal(stack_sums_init(&s), 0);
	/* the same program at two addresses */
	begin_host(&a, 100, 0x100000);
	begin_host(&b, 50, 0x900000);
	read_into(&s, &past[0], &a, false);
	read_into(&s, &past[1], &b, false);
	assert_int_equal(s.stack_count, 101);
	stack_sums_send(&s);
	p = profile_of(&s);
	assert_int_equal(p.samples, 100);
	assert_int_equal(p.blocks, sum_to(100) + sum_to(50));
	assert_int_equal(p.bytes, 10 * p.blocks);
	assert_int_equal(p.live_blocks, p.blocks - 150);
	/* again: nothing was allocated since */
	stack_sums_accepted(&s);
	stack_sums_clear_live(&s);
	read_into(&s, &past[0], &a, false);
	read_into(&s, &past[1], &b, true);
	stack_sums_send(&s);
	p = profile_of(&s);
	assert_int_equal(p.blocks, 0);
	assert_int_equal(p.live_blocks, sum_to(100) - 100);
	reading_release(&past[0]);
	reading_release(&past[1]);
	end_host(&a);
	end_host(&b);
	stack_sums_release(&s);
}

TEST(what_came_before_the_base_is_not_counted)
{
	struct reading_past past = {0};
	struct stack_sums s;
	struct host a;

	assert_int_equal(stack_sums_init(&s), 0);
	begin_host(&a, 10, 0x100000);
	assert_int_equal(reading_begin(&past, a.file, SEGFILE_OWN, 0), 0);
	segfile_close(a.file);
	mkseg_book(a.m, 0, 3, 10, 10, 1); /* adds to what it had */
	free(a.bytes);
	open_host(&a);
	read_into(&s, &past, &a, false);
	assert_int_equal(stack_sums_total(&s).waiting.blocks, 10);
	assert_int_equal(stack_sums_total(&s).waiting.bytes, 100);
	reading_release(&past);
	end_host(&a);
	stack_sums_release(&s);
}

TEST(more_stacks_than_a_server_takes_are_other)
{
	struct reading_past past = {0};
	struct stack_sums s;
	struct host a;
	struct profile_seen p;
	size_t merged = 0;

	assert_int_equal(stack_sums_init(&s), 0);
	begin_host(&a, 20000, 0x100000);
	read_into(&s, &past, &a, false);
	assert_int_equal(s.stack_count, STACK_SUMS_MOST);
	stack_sums_send(&s);
	p = profile_of(&s);
	assert_int_equal(p.samples, PROFILE_SAMPLES);
	assert_int_equal(p.blocks, sum_to(20000));
	assert_int_equal(p.live_blocks, sum_to(20000) - 20000);
	/* the largest ones have stacks of their own */
	assert_true(s.stacks[STACK_SUMS_OTHER].live.blocks < sum_to(20000 - STACK_SUMS_MOST + 1));
	/* a smaller table has the same sums, sent or not */
	assert_int_equal(stack_sums_thin(&s, 100, &merged), 0);
	assert_int_equal(s.stack_count, 101);
	assert_int_equal(merged, STACK_SUMS_MOST - 101);
	assert_int_equal(stack_sums_total(&s).sending.blocks, sum_to(20000));
	stack_sums_refused(&s);
	assert_int_equal(stack_sums_total(&s).waiting.blocks, sum_to(20000));
	assert_int_equal(stack_sums_total(&s).sending.blocks, 0);
	/* it knows those that it has, and asks for no names again */
	stack_sums_clear_live(&s);
	read_into(&s, &past, &a, false);
	assert_int_equal(stack_sums_total(&s).live.blocks, sum_to(20000) - 20000);
	assert_int_equal(stack_sums_total(&s).waiting.blocks, sum_to(20000));
	reading_release(&past);
	end_host(&a);
	stack_sums_release(&s);
}

/* Names of 2 KiB: 4,000 of them do not fit. */
TEST(a_profile_of_long_names_fits)
{
	static char name[2048];
	struct stack_sums s;
	struct profile_seen p;

	assert_int_equal(stack_sums_init(&s), 0);
	for (uint32_t i = 0; i < 4000; i++) {
		const struct stack_sums_key key = {i + 1, i};
		struct frame f = {.function = name, .brief = name};
		uint32_t zero = 0, at;
		struct view_site site = {.frames = &zero, .frame_count = 1};
		struct view v = {.frames = &f, .frame_count = 1};

		memset(name, 'x', sizeof(name) - 1);
		(void)snprintf(name, 16, "%u", i);
		name[strlen(name)] = '_';
		assert_int_equal(stack_sums_add(&s, &key, NULL, &v, &site), 0);
		assert_true(stack_sums_find(&s, &key, &at));
		stack_sums_add_allocated(&s, at, (struct stack_sums_pair){1, i});
	}
	stack_sums_send(&s);
	p = profile_of(&s);
	assert_in_range(p.samples, 500, 2500);
	assert_int_equal(p.blocks, 4000);
	assert_int_equal(p.bytes, sum_to(3999));
	stack_sums_release(&s);
}

TEST(sums_do_not_wrap)
{
	struct stack_sums s;

	assert_int_equal(stack_sums_init(&s), 0);
	for (int i = 0; i < 3; i++)
		stack_sums_add_allocated(
		    &s, STACK_SUMS_OTHER, (struct stack_sums_pair){UINT64_MAX - 1, UINT64_MAX / 2});
	assert_true(stack_sums_total(&s).waiting.blocks == UINT64_MAX);
	assert_true(stack_sums_total(&s).waiting.bytes == UINT64_MAX);
	stack_sums_release(&s);
}

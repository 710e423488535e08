/* test_c_recorder.c - recorder.h: each event goes through one tier, and is recorded once or counted by name. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sys/resource.h>

#include "test.h"
#include "started.h"

#include "collector/heap/ledger.h"
#include "collector/lifecycle_set.h"
#include "collector/unwind/module.h"

enum { THREADS = 4, EVENTS = 4000, SITES = 40000, FAR_BLOCKS = 200000 };

/* ---- tiers --------------------------------------------------------------- */

enum tier { HIT, READY, LAST };

/* An event by one tier alone. False: the tier could not do it. */
__attribute__((noinline)) static bool tiered(enum tier tier, void *p, uint64_t size)
{
	CPU_CALLER(c);
	struct gate *g = thread_gate;
	struct thread *t = thread_self;

	thread_enter(g);
	if (tier == READY) {
		recorder_alloc_ready(t, p, size, &c, SEG_API_MALLOC);
		return true;
	}
	if (tier == LAST)
		return recorder_alloc_last(p, size, c.pc, c.sp, c.fp, SEG_API_MALLOC) == p;
	if (recorder_alloc_hit(t, p, size, &c, SEG_API_MALLOC)) {
		recorder_leave(g, t);
		return true;
	}
	thread_leave(g);
	return false;
}

/* One call in one place, so all steps have the same stack. */
static const struct step {
	enum tier tier;
	bool works;
	uint32_t recorded; /* up to and with this step */
} steps[] = {
    {HIT, false, 0}, /* the memo does not know the stack */
    {HIT, false, 0},
    {READY, true, 1},
    {HIT, false, 1}, /* the thread looks at the clock at each event */
    {READY, true, 2},
    {HIT, true, 3},
    {LAST, true, 4},
    {HIT, true, 5},
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static void run_tiers(void)
{
	struct ledger_sums before = ledger_sums(), after;
	uint32_t i, site = 0;

#pragma GCC unroll 1
	for (i = 0; i < STEPS; i++) {
		struct block_entry b;
		bool done = tiered(steps[i].tier, started_block(i), 100);

		after = ledger_sums();
		CHECK(done == steps[i].works);
		CHECK(thread_gate->state == THREAD_READY);
		CHECK(after.allocations - before.allocations == steps[i].recorded);
		b = blocks_take_slow((uint64_t)(uintptr_t)started_block(i));
		CHECK((b.site != 0) == done);
		CHECK(!done || b.size == 100);
		CHECK(!done || !site || b.site == site);
		site = b.site;
	}
	CHECK(after.allocated_bytes - before.allocated_bytes == 500);
	CHECK(started_count(SEG_LOST_EVENTS) == 0);
	CHECK(started_count(SEG_NESTED_EVENTS) == 0);
}

TEST(the_first_tier_writes_all_or_nothing)
{
	assert_int_equal(started_run(run_tiers, NULL), 0);
}

/* ---- frees --------------------------------------------------------------- */

static void run_frees(void)
{
	struct ledger_sums before = ledger_sums(), after;
	struct blocks_found f;
	struct seg_row *row;

	started_alloc(started_block(1), 10);
	started_alloc(started_block(2), 20);
	started_alloc(started_block(3), 30);

	/* inline, in three steps */
	thread_enter(thread_gate);
	row = recorder_find(thread_self, started_block(1), &f, SINK_NONE);
	CHECK(row && f.block.size == 10);
	recorder_drop(thread_self, started_block(1), &f, row, 0, SINK_NONE);
	thread_leave(thread_gate);
	/* READY, and whatever the state is */
	thread_enter(thread_gate);
	thread_self->pace.countdown--;
	recorder_free_ready(started_block(2), 0);
	CHECK(thread_gate->state == THREAD_READY);
	recorder_free_any(started_block(3), 0);
	after = ledger_sums();
	CHECK(after.frees == before.frees + 3);
	CHECK(after.freed_bytes == before.freed_bytes + 60);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);

	/* a second free is of a block that nobody knows */
	recorder_free_any(started_block(3), 0);
	started_free(started_block(2));
	CHECK(started_count(SEG_UNKNOWN_FREES) == 2);
	/* unless a block has come that was not recorded */
	recorder_passed_by(SEG_LOST_EVENTS);
	started_free(started_block(7));
	CHECK(started_count(SEG_LOST_EVENTS) == 1);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 2);
	CHECK(started_count(SEG_UNTRACKED_FREES) == 1);
	started_free(started_block(7));
	CHECK(started_count(SEG_UNKNOWN_FREES) == 3);
	CHECK(ledger_sums().frees == after.frees);
}

TEST(a_free_is_recorded_once_or_counted)
{
	assert_int_equal(started_run(run_frees, NULL), 0);
}

/* A caller in libc, on a stack of our own with return addresses all over. */
static struct cpu_frame other_stack(void)
{
	const uint64_t pc = (uint64_t)(uintptr_t)&qsort + 1;
	uint64_t *stack = mmap(NULL, (size_t)16 * CPU_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *sp = stack + 8 * CPU_PAGE / sizeof(*sp);

	CHECK(stack != MAP_FAILED);
	for (uint64_t *at = sp - 16; at < sp + 256; at++)
		*at = pc;
	return (struct cpu_frame){pc, (uint64_t)(uintptr_t)sp, 0};
}

static void run_missed(void)
{
	const struct cpu_frame c = other_stack();
	struct ledger_sums sums;

	started_alloc(started_block(1), 64);
	started_alloc(started_block(1), 24); /* its free went past us */
	CHECK(started_count(SEG_MISSED_FREES) == 1);
	CHECK(started_count(SEG_MISSED_BYTES) == 64);
	recorder_alloc_any(started_block(1), 32, &c, SEG_API_MALLOC, RECORDER_NOW);
	CHECK(started_count(SEG_MISSED_FREES) == 2);
	CHECK(started_count(SEG_MISSED_BYTES) == 88);
	sums = ledger_sums();
	CHECK(sums.allocations - sums.frees == 1);
	CHECK(sums.allocated_bytes - sums.freed_bytes == 32);
	/* a large block begins right before another one: it is gone as well */
	started_alloc(started_block(20), 16);
	recorder_alloc_any((char *)started_block(20) - (1 << live_granule_bits), 1000, &c,
	    SEG_API_MALLOC, RECORDER_NOW);
	CHECK(started_count(SEG_MISSED_FREES) == 3);
	CHECK(started_count(SEG_MISSED_BYTES) == 88 + 16);
}

TEST(an_address_that_comes_back_tells_of_a_missed_free)
{
	assert_int_equal(started_run(run_missed, NULL), 0);
}

__attribute__((noinline)) static void reallocate(void *old, void *p, uint64_t size, bool nested)
{
	CPU_CALLER(c);
	struct block_entry b = blocks_take_slow((uint64_t)(uintptr_t)old);

	if (nested)
		thread_enter(thread_gate);
	recorder_resize(old, b, p, size, &c, SEG_API_REALLOC);
	if (nested)
		thread_leave(thread_gate);
}

static void run_realloc(void)
{
	struct ledger_sums sums;

	started_alloc(started_block(1), 64);
	reallocate(started_block(1), NULL, 1000, false); /* it failed */
	sums = ledger_sums();
	CHECK(sums.allocations == 1 && sums.frees == 0);
	reallocate(started_block(1), started_block(2), 128, false);
	sums = ledger_sums();
	CHECK(sums.allocations == 2 && sums.frees == 1);
	CHECK(sums.allocated_bytes - sums.freed_bytes == 128);
	CHECK(blocks_take_slow((uint64_t)(uintptr_t)started_block(1)).site == 0);
	reallocate(started_block(2), started_block(2), 256, true);
	sums = ledger_sums();
	CHECK(sums.allocations == 3 && sums.frees == 2);
	CHECK(sums.allocated_bytes - sums.freed_bytes == 256);
	reallocate(started_block(2), NULL, 0, false); /* as free() */
	sums = ledger_sums();
	CHECK(sums.allocations == 3 && sums.frees == 3);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
	CHECK(thread_gate->state == THREAD_READY);
}

TEST(realloc_is_a_free_and_an_allocation_unless_it_fails)
{
	assert_int_equal(started_run(run_realloc, NULL), 0);
}

/* ---- nested events ------------------------------------------------------- */

static void run_nested(void)
{
	struct ledger_sums before, after;
	uint32_t i;

	started_alloc(started_block(0), 8); /* it has what a thread needs */
	before = ledger_sums();
	thread_enter(thread_gate); /* a handler comes in the middle of a hook */
	for (i = 1; i <= 10; i++)
		started_alloc(started_block(i), 10);
	for (i = 1; i <= 4; i++)
		started_free(started_block(i));
	CHECK(thread_gate->state == THREAD_BUSY); /* still the hook's */
	CHECK(started_count(SEG_NESTED_EVENTS) == 14);
	CHECK(thread_self->nested.taken == 0);
	/* in handlers of handlers the room for long stacks is taken */
	thread_self->nested.taken = (1u << THREAD_SCRATCHES) - 1;
	started_alloc(started_block(11), 10);
	CHECK(thread_self->nested.taken == (1u << THREAD_SCRATCHES) - 1);
	thread_self->nested.taken = 0;
	thread_leave(thread_gate);
	after = ledger_sums();
	CHECK(after.allocations == before.allocations + 11);
	CHECK(after.frees == before.frees + 4);
	CHECK(after.allocated_bytes - after.freed_bytes ==
	    before.allocated_bytes - before.freed_bytes + 70);
	/* the rest dies outside */
	for (i = 5; i <= 11; i++)
		started_free(started_block(i));
	started_free(started_block(0));
	after = ledger_sums();
	CHECK(after.allocations == after.frees);
	CHECK(after.allocated_bytes == after.freed_bytes);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
	CHECK(started_count(SEG_LOST_EVENTS) == 0);
}

TEST(events_inside_a_hook_are_recorded_too)
{
	assert_int_equal(started_run(run_nested, NULL), 0);
}

static void run_closing(void)
{
	uint32_t gen = module_gen;
	struct gate *g;

	started_alloc(started_block(1), 64);
	g = recorder_closing();
	CHECK(g == thread_gate && g->state == THREAD_CLOSING);
	CHECK(!recorder_closing());     /* a dlclose inside of it */
	started_free(started_block(1)); /* by the loader: a module is gone */
	CHECK(LOAD(&module_gen) != gen);
	CHECK(started_count(SEG_NESTED_EVENTS) == 0);
	recorder_closed(g);
	CHECK(g->state == THREAD_READY);
	CHECK(ledger_sums().frees == 1);
}

TEST(a_free_inside_dlclose_makes_modules_distrusted)
{
	assert_int_equal(started_run(run_closing, NULL), 0);
}

/* ---- on, off, paused ----------------------------------------------------- */

static uint32_t command;

static void run_commands(void)
{
	struct ledger_sums sums;

	lifecycle_listen(&command, true);
	started_alloc(started_block(1), 64);
	command = 77; /* nothing that we know */
	started_alloc(started_block(2), 64);
	CHECK(started_count(SEG_CTL_IGNORED) == 1);
	CHECK(lifecycle_is_on() && ledger_sums().allocations == 2);

	command = SEG_MODE_OFF;
	started_alloc(started_block(3), 64); /* the event that notices it */
	CHECK(!lifecycle_is_on() && segment.header->mode == SEG_MODE_OFF);
	CHECK(thread_gate->state == THREAD_OFF);
	started_alloc(started_block(4), 64);
	CHECK(started_count(SEG_EVENTS_OFF) == 2);
	CHECK(ledger_sums().allocations == 2);
	started_free(started_block(1)); /* known, so it is recorded */
	started_free(started_block(4)); /* it came while recording was off */
	CHECK(ledger_sums().frees == 1);
	CHECK(started_count(SEG_UNTRACKED_FREES) == 1);

	command = SEG_MODE_ON;
	started_alloc(started_block(5), 64);
	CHECK(lifecycle_is_on() && thread_gate->state == THREAD_READY);
	sums = ledger_sums();
	CHECK(sums.allocations == 3 && sums.frees == 1);
	CHECK(started_count(SEG_LOST_EVENTS) == 0);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
}

TEST(the_command_word_is_obeyed_by_the_next_event)
{
	assert_int_equal(started_run(run_commands, NULL), 0);
}

static void run_pause(void)
{
	started_alloc(started_block(1), 64);
	recorder_pause(1);
	recorder_pause(1);
	started_alloc(started_block(2), 64);
	started_free(started_block(1));
	recorder_pause(-1);
	started_alloc(started_block(3), 64);
	CHECK(started_count(SEG_PAUSED_EVENTS) == 2);
	recorder_pause(-1);
	recorder_pause(-1); /* one too many changes nothing */
	started_alloc(started_block(4), 64);
	CHECK(started_count(SEG_PAUSED_EVENTS) == 2);
	CHECK(thread_gate->state == THREAD_READY);
	CHECK(ledger_sums().allocations == 2 && ledger_sums().frees == 1);
}

TEST(a_paused_thread_counts_its_allocations)
{
	assert_int_equal(started_run(run_pause, NULL), 0);
}

/* ---- losses -------------------------------------------------------------- */

static void run_full(void)
{
	struct cpu_frame c = other_stack();
	struct ledger_sums sums;
	uint32_t i;

	/* each pc in the code of libc is a stack of its own */
	for (i = 0; i < SITES; i++) {
		c.pc = (uint64_t)(uintptr_t)&qsort + i * UINT64_C(8);
		recorder_alloc_any(started_block(i), 48, &c, SEG_API_MALLOC, RECORDER_NOW);
	}
	sums = ledger_sums();
	CHECK(started_count(SEG_LOST_SITES) > 0); /* the segment is full */
	CHECK(sums.allocations + started_count(SEG_LOST_EVENTS) == SITES);
	CHECK(sums.allocations > SITES / 100);
	for (i = 0; i < SITES; i++)
		started_free(started_block(i));
	sums = ledger_sums();
	CHECK(sums.frees + started_count(SEG_LOST_FREES) + started_count(SEG_UNTRACKED_FREES) ==
	    SITES);
	CHECK(sums.allocations == sums.frees + started_count(SEG_LOST_FREES));
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
}

TEST(a_full_segment_loses_stacks_and_counts_them)
{
	assert_int_equal(started_run(run_full, "SEEP_BUDGET=256K"), 0);
}

/* 16 MiB apart. */
static const void *far_block(uint32_t i)
{
	return (const void *)(uintptr_t)((UINT64_C(1) << 40) + ((uint64_t)i << 24));
}

static void run_no_memory(void)
{
	const struct rlimit none = {0, 0};
	struct ledger_sums before, after;
	uint32_t i;

	started_alloc(started_block(0), 48);
	before = ledger_sums();
	CHECK(setrlimit(RLIMIT_AS, &none) == 0);
	/* each needs a page of the live map, and there will be none */
	for (i = 0; i < FAR_BLOCKS; i++)
		started_alloc(far_block(i), 48);
	after = ledger_sums();
	CHECK(started_count(SEG_LOST_EVENTS) > 0);
	CHECK(
	    after.allocations - before.allocations + started_count(SEG_LOST_EVENTS) == FAR_BLOCKS);
	CHECK(after.allocated_bytes - before.allocated_bytes ==
	    48 * (after.allocations - before.allocations));
	for (i = 0; i < FAR_BLOCKS; i++)
		started_free(far_block(i));
	after = ledger_sums();
	CHECK(after.allocations - after.frees == 1);
	CHECK(started_count(SEG_UNTRACKED_FREES) == started_count(SEG_LOST_EVENTS));
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
}

TEST(an_event_without_memory_is_lost_and_counted)
{
	assert_int_equal(started_run(run_no_memory, NULL), 0);
}

/* ---- threads ------------------------------------------------------------- */

static uint64_t handed[THREADS]; /* the block that another thread frees */

static void *work(void *arg)
{
	uint32_t me = (uint32_t)(uintptr_t)arg, i;
	uint32_t at = me * EVENTS * 2;

	for (i = 0; i < EVENTS; i++) {
		void *p = started_block(at + i);
		uint64_t other;

		started_alloc(p, 8 + i % 500);
		other = __atomic_exchange_n(
		    &handed[(me + 1) % THREADS], (uint64_t)(uintptr_t)p, __ATOMIC_ACQ_REL);
		if (other)
			started_free((const void *)(uintptr_t)other);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];
	struct ledger_sums sums;
	uintptr_t i;

	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	for (i = 0; i < THREADS; i++)
		started_free((const void *)(uintptr_t)handed[i]);
	sums = ledger_sums();
	CHECK(sums.allocations == THREADS * EVENTS);
	CHECK(sums.frees == THREADS * EVENTS);
	CHECK(sums.allocated_bytes == sums.freed_bytes);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
	CHECK(started_count(SEG_MISSED_FREES) == 0);
	CHECK(started_count(SEG_LOST_EVENTS) == 0);
}

TEST(blocks_that_other_threads_free_are_counted_once)
{
	assert_int_equal(started_run(run_threads, NULL), 0);
}

TEST_GROUP(started_make_dir, started_remove_dir);

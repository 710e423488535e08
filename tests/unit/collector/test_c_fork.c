/* test_c_fork.c - fork.h, early.h, lifecycle.h: what a forked child counts, where, and how long threads wait for each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>

#include "test.h"
#include "started.h"

#include "collector/process/early.h"
#include "collector/process/start.h"
#include "collector/process/fork.h"
#include "collector/heap/ledger.h"
#include "collector/lifecycle_set.h"
#include "collector/segment/place.h"

/* Also as root, whose children would have files of their own. */
#define SHARED    "SEEP_CHILD_FILES=0"
#define OWN_FILES "SEEP_CHILD_FILES=1"

enum {
	PARENTS = 5, /* blocks that the parent has */
	MANY = 200,  /* events after which a child has moved */
	THREADS = 4,
	EACH = 500, /* events of a thread */
	CHILDREN = 40,
	WAIT_MOST = 20, /* seconds: a bounded wait, on a busy machine */
};

/* Where a child tells its parent what it found, and the other way round. */
struct shared {
	uint32_t slot;
	uint32_t go, ready;
	uint8_t uuid[16];
	uint64_t sequence;
};
static struct shared *shared;

static int make_shared(void **state)
{
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : started_make_dir(state);
}

static void parents_blocks(void)
{
	for (uint32_t i = 0; i < PARENTS; i++)
		started_alloc(started_block(i), 1000);
}

/* The parent's counters are as they were before its children came. */
static void check_parent(void)
{
	struct ledger_sums sums = ledger_sums();

	CHECK(sums.allocations == PARENTS && sums.frees == 0);
	CHECK(sums.allocated_bytes == PARENTS * 1000);
	CHECK(started_count(SEG_LOST_EVENTS) == 0);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
	CHECK(started_count(SEG_INHERITED_FREES) == 0);
}

static const struct seg_early *line_of(pid_t pid)
{
	const struct seg_early *lines =
	    (const void *)((const char *)place.slots.head + SLOTS_EARLY_AT);

	for (int i = 0; i < SEG_EARLY; i++)
		if (lines[i].pid == (uint32_t)pid)
			return &lines[i];
	return NULL;
}

static uint32_t taken_slots(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < place.slots.count; i++)
		n += LOAD(&place.slots.head->taken[i]) != 0;
	return n;
}

/* ---- the first events ---------------------------------------------------- */

static void be_small(void)
{
	started_alloc(started_block(100), 10); /* the set-up */
	CHECK(lifecycle_is_early && segment.memory.anonymous);
	CHECK(lifecycle_command != &place.control->command);
	CHECK(segment.header->pid == (uint32_t)getpid());
	CHECK(segment.header->ppid == (uint32_t)getppid());
	CHECK(segment.header->first_id > 1);
	started_alloc(started_block(101), 20);
	started_alloc(started_block(102), 30);
	started_free(started_block(101));
	started_free(started_block(0)); /* the parent's */
	CHECK(started_count(SEG_INHERITED_FREES) == 1);
	CHECK(started_count(SEG_INHERITED_BYTES) == 1000);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
}

static void run_small(void)
{
	const struct seg_early *line;
	pid_t pid;

	parents_blocks();
	CHECK(place.slots.head);
	pid = started_fork(be_small);
	started_join(pid);
	line = line_of(pid);
	CHECK(line);
	CHECK(line->state == SEG_EARLY_COUNTING); /* it ended by _exit() */
	CHECK(line->allocations == 3 && line->allocated_bytes == 60);
	CHECK(line->frees == 1 && line->freed_bytes == 20);
	CHECK(line->peak_bytes >= 40 && line->peak_bytes <= 60);
	CHECK(line->ppid == (uint32_t)getpid() && line->sequence == 1);
	CHECK(taken_slots() == 0);
	check_parent();
}

TEST(sums_of_a_small_child_outlive_it)
{
	assert_int_equal(started_run(run_small, SHARED), 0);
}

static void exit_without_blocks(void)
{
	started_alloc(started_block(100), 10);
	started_free(started_block(100));
	exit_process();
	CHECK(segment.memory.anonymous); /* it needs no slot */
}

static void exit_with_blocks(void)
{
	started_alloc(started_block(100), 10);
	exit_process();
	CHECK(!segment.memory.anonymous && !lifecycle_is_early);
	CHECK(segment.header->end_kind == SEG_END_EXITED);
}

static void run_exit(void)
{
	pid_t pid;

	parents_blocks();
	pid = started_fork(exit_without_blocks);
	started_join(pid);
	CHECK(line_of(pid) && line_of(pid)->state == SEG_EARLY_EXITED);
	CHECK(taken_slots() == 0);
	pid = started_fork(exit_with_blocks);
	started_join(pid);
	CHECK(!line_of(pid) || line_of(pid)->state == SEG_EARLY_FREE);
	CHECK(taken_slots() == 1);
	check_parent();
}

TEST(a_child_that_leaves_blocks_gets_a_slot_at_its_exit)
{
	assert_int_equal(started_run(run_exit, SHARED), 0);
}

/* ---- the move ------------------------------------------------------------ */

static void grow_up(void)
{
	struct ledger_sums sums;
	uint32_t i;

	for (i = 0; i < MANY; i++)
		started_alloc(started_block(100 + i), 10);
	CHECK(!lifecycle_is_early && !segment.memory.anonymous);
	CHECK(thread_gate->state == THREAD_READY);
	sums = ledger_sums();
	CHECK(sums.allocations == MANY && sums.allocated_bytes == 10 * MANY);
	for (i = 0; i < MANY; i++)
		started_free(started_block(100 + i));
	sums = ledger_sums();
	CHECK(sums.frees == MANY && sums.freed_bytes == 10 * MANY);
	CHECK(started_count(SEG_UNKNOWN_FREES) == 0);
	CHECK(started_count(SEG_LOST_EVENTS) == 0);
	shared->slot = segment.header->slot_index;
	/* the word of its own slot is the one that it obeys */
	CHECK(lifecycle_command == &place.control->slot_command[shared->slot]);
}

static void run_growth(void)
{
	const struct seg_header *h;
	struct segment_memory m;
	uint64_t bytes;
	pid_t pid;

	parents_blocks();
	pid = started_fork(grow_up);
	started_join(pid);
	CHECK(taken_slots() == 1);
	CHECK(LOAD(&place.slots.head->taken[shared->slot]) == 1);
	CHECK(!line_of(pid) || line_of(pid)->state == SEG_EARLY_FREE);
	CHECK(slots_map_one(&place.slots, shared->slot, &m, &bytes));
	h = (const struct seg_header *)(const void *)m.head;
	CHECK(h->magic == SEG_MAGIC && h->state == SEG_ALIVE);
	CHECK(h->pid == (uint32_t)pid && h->ppid == (uint32_t)getpid());
	CHECK(memcmp(h->parent_uuid, segment.header->uuid, 16) == 0);
	check_parent();
}

TEST(a_child_that_grows_moves_into_a_slot)
{
	assert_int_equal(started_run(run_growth, SHARED), 0);
}

static void find_no_slot(void)
{
	for (uint32_t i = 0; i < MANY; i++)
		started_alloc(started_block(100 + i), 10);
	CHECK(!lifecycle_is_early && !lifecycle_is_on());
	CHECK(thread_gate->state == THREAD_OFF);
}

static void run_no_slot(void)
{
	pid_t pid;

	parents_blocks();
	for (uint32_t i = 0; i < place.slots.count; i++)
		STORE(&place.slots.head->taken[i], 1);
	pid = started_fork(find_no_slot);
	started_join(pid);
	CHECK(LOAD(&place.slots.head->untraced) == 1);
	CHECK(!line_of(pid) || line_of(pid)->state == SEG_EARLY_FREE);
	check_parent();
}

TEST(a_child_without_a_slot_is_counted_and_goes_quiet)
{
	assert_int_equal(started_run(run_no_slot, SHARED), 0);
}

/* ---- children of children, of clone(), and inside of a hook -------------- */

static void be_a_grandchild(void)
{
	started_alloc(started_block(300), 10);
	CHECK(segment.header->sequence == shared->sequence + 1);
	CHECK(memcmp(segment.header->parent_uuid, shared->uuid, 16) == 0);
	CHECK(memcmp(segment.header->uuid, shared->uuid, 16) != 0);
	CHECK(ledger_sums().allocations == 1);
	started_free(started_block(200)); /* of its parent */
	started_free(started_block(0));   /* of its grandparent */
	CHECK(started_count(SEG_INHERITED_FREES) == 2);
}

static void be_a_parent(void)
{
	started_alloc(started_block(200), 10);
	memcpy(shared->uuid, segment.header->uuid, 16);
	shared->sequence = segment.header->sequence;
	started_join(started_fork(be_a_grandchild));
	CHECK(ledger_sums().allocations == 1 && ledger_sums().frees == 0);
	CHECK(started_count(SEG_INHERITED_FREES) == 0);
}

static void run_generations(void)
{
	parents_blocks();
	started_join(started_fork(be_a_parent));
	check_parent();
}

TEST(a_childs_child_leaves_it_in_turn)
{
	assert_int_equal(started_run(run_generations, SHARED), 0);
}

static void run_clone(void)
{
	pid_t pid;

	parents_blocks();
	/* no handler of fork() runs, and a hook is under way */
	thread_enter(thread_gate);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	CHECK(pid >= 0);
	thread_leave(thread_gate);
	if (pid == 0) {
		started_alloc(started_block(100), 10);
		CHECK(lifecycle_is_early && ledger_sums().allocations == 1);
		CHECK(segment.header->pid == (uint32_t)syscall(SYS_getpid));
		_exit(0);
	}
	started_join(pid);
	CHECK(started_count(SEG_FORKED_INSIDE) == 1);
	CHECK(line_of(pid) && line_of(pid)->allocations == 1);
	check_parent();
}

TEST(a_child_of_clone_sets_itself_up)
{
	assert_int_equal(started_run(run_clone, SHARED), 0);
}

/* ---- files of their own -------------------------------------------------- */

static void be_apart(void)
{
	CHECK(child_file.memory.head && !place.slots.head);
	started_alloc(started_block(100), 10);
	CHECK(child_file.has_early && lifecycle_is_early);
	for (uint32_t i = 1; i < MANY; i++)
		started_alloc(started_block(100 + i), 10);
	CHECK(!child_file.has_early && !lifecycle_is_early && !child_file.memory.head);
	CHECK(ledger_sums().allocations == MANY);
	CHECK(segment.header->slot_count == place.slots.count);
}

static void run_apart(void)
{
	parents_blocks();
	CHECK(fork_has_own_files() && !place.slots.head);
	started_join(started_fork(be_apart));
	CHECK(started_remove_files(".seg") == 2);
	check_parent();
}

TEST(a_child_may_have_a_file_of_its_own)
{
	started_remove_files("");
	assert_int_equal(started_run(run_apart, OWN_FILES), 0);
}

static void have_no_file(void)
{
	CHECK(!child_file.memory.head);
	/* it fails to move, too */
	for (uint32_t i = 0; i < MANY; i++)
		started_alloc(started_block(100 + i), 10);
	CHECK(!lifecycle_is_on());
}

static void run_no_file(void)
{
	parents_blocks();
	started_remove_files("");
	CHECK(rmdir(started_dir) == 0);
	started_join(started_fork(have_no_file));
	started_join(started_fork(have_no_file));
	CHECK(mkdir(started_dir, 0700) == 0);
	/* the second fork has written down what the first child has counted */
	CHECK(started_count(SEG_CHILDREN_UNTRACED) == 1);
	fork_sum_up();
	CHECK(started_count(SEG_CHILDREN_UNTRACED) == 2);
	check_parent();
}

TEST(a_child_that_can_make_no_file_is_counted_once)
{
	assert_int_equal(started_run(run_no_file, OWN_FILES), 0);
}

/* ---- threads of a child, and bounded waits ------------------------------- */

static void *come_at_once(void *arg)
{
	uint32_t at = 1000 + EACH * (uint32_t)(uintptr_t)arg;

	ADD(&shared->ready, 1);
	while (!LOAD_ACQUIRE(&shared->go))
		sched_yield();
	for (uint32_t i = 0; i < EACH; i++)
		started_alloc(started_block(at + i), 10);
	return NULL;
}

static void be_many(void)
{
	pthread_t threads[THREADS];
	struct ledger_sums sums;
	uintptr_t i;

	for (i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, come_at_once, (void *)i) == 0);
	while (LOAD(&shared->ready) < THREADS)
		sched_yield();
	STORE_RELEASE(&shared->go, 1);
	for (i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	sums = ledger_sums();
	/* on a machine that is too busy a wait may end: then it is counted */
	CHECK(sums.allocations + started_count(SEG_LOST_EVENTS) == THREADS * EACH);
	CHECK(sums.allocations > THREADS * EACH / 2);
	CHECK(!lifecycle_is_early);
	CHECK(taken_slots() == shared->slot + 1); /* it has moved, once */
}

static void run_many(void)
{
	parents_blocks();
	for (int i = 0; i < CHILDREN; i++) {
		shared->go = shared->ready = 0;
		shared->slot = taken_slots();
		started_join(started_fork(be_many));
	}
	check_parent();
}

TEST(threads_that_come_first_at_once_set_a_child_up_once)
{
	assert_int_equal(started_run(run_many, SHARED), 0);
}

static void *try_an_event(void *arg)
{
	bool *ran = arg;
	uint64_t lost = started_count(SEG_LOST_EVENTS);
	uint64_t allocations = ledger_sums().allocations;

	*ran = lifecycle_running();
	started_alloc(started_block(500), 10);
	CHECK(started_count(SEG_LOST_EVENTS) - lost == (*ran ? 0 : 1));
	CHECK(ledger_sums().allocations - allocations == (*ran ? 1 : 0));
	return NULL;
}

static void in_a_thread(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	CHECK(pthread_create(&t, NULL, fn, arg) == 0);
	CHECK(pthread_join(t, NULL) == 0);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A thread that never ends its set-up, as if it had been stopped. */
static void run_stuck(void)
{
	double begin, own, other;
	bool ran = true;

	parents_blocks();
	CHECK(lifecycle_change_begins());
	CHECK(!lifecycle_change_begins());
	CHECK(!lifecycle_is_settled());
	begin = seconds();
	CHECK(!lifecycle_running()); /* as a handler in the same thread */
	own = seconds() - begin;
	in_a_thread(try_an_event, &ran);
	other = seconds() - begin - own;
	CHECK(!ran);
	CHECK(own < other / 4); /* it would wait for itself */
	CHECK(other < WAIT_MOST);
	lifecycle_change_ends();
	CHECK(lifecycle_is_settled() && lifecycle_running());
	in_a_thread(try_an_event, &ran);
	CHECK(ran);
}

TEST(an_event_waits_for_a_set_up_but_not_for_ever)
{
	assert_int_equal(started_run(run_stuck, SHARED), 0);
}

static void *stay_inside(void *arg)
{
	bool counted = lifecycle_slow_begins();

	(void)arg;
	CHECK(counted);
	STORE_RELEASE(&shared->ready, 1);
	while (!LOAD_ACQUIRE(&shared->go))
		sched_yield();
	lifecycle_slow_ends(counted);
	return NULL;
}

static void move_around_another(void)
{
	pthread_t other;
	uint32_t i;

	started_alloc(started_block(100), 10);
	CHECK(lifecycle_is_early);
	CHECK(pthread_create(&other, NULL, stay_inside, NULL) == 0);
	while (!LOAD_ACQUIRE(&shared->ready))
		sched_yield();
	/* it grows up, but another event is under way: it stays */
	for (i = 1; i < 70; i++)
		started_alloc(started_block(100 + i), 10);
	CHECK(lifecycle_is_early && taken_slots() == 0);
	CHECK(ledger_sums().allocations == 70);
	CHECK(lifecycle_change_begins());
	CHECK(!lifecycle_change_is_alone(0));
	CHECK(lifecycle_change_is_alone(1));
	lifecycle_change_ends();
	STORE_RELEASE(&shared->go, 1);
	CHECK(pthread_join(other, NULL) == 0);
	/* and tries again later */
	for (i = 70; i < MANY; i++)
		started_alloc(started_block(100 + i), 10);
	CHECK(!lifecycle_is_early && taken_slots() == 1);
	CHECK(ledger_sums().allocations == MANY);
	CHECK(started_count(SEG_LOST_EVENTS) == 0);
}

static void run_around(void)
{
	parents_blocks();
	shared->go = shared->ready = 0;
	started_join(started_fork(move_around_another));
	check_parent();
}

TEST(a_child_does_not_move_while_an_event_is_under_way)
{
	assert_int_equal(started_run(run_around, SHARED), 0);
}

TEST_GROUP(make_shared, started_remove_dir);

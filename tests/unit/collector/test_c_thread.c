/* test_c_thread.c - gates and blocks: which thread has which, and when another thread gets them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "test.h"
#include "collector/heap/ledger.h"
#include "collector/heap/blocks.h"
#include "collector/segment/mem.h"
#include "collector/heap/sample.h"
#include "collector/heap/sites.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"

enum {
	STACK = 2 << 20, /* sanitizers need as much */
	SHORT = 1500,
	CHURNERS = 3,
	STAYERS = 6,
	MANY = 200,
	DORMANT = 8,
};

static int start(void **state)
{
	size_t bytes = (size_t)64 << 20;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	if (p == MAP_FAILED || !segment_init_plain(p, bytes, bytes))
		return -1;
	tick_start(true);
	blocks_init(true);
	thread_init(true, true);
	return sample_init(4096) && sites_init(1) && ledger_init(1) ? 0 : -1;
}

/* What a thread found itself with. */
struct had {
	struct gate *gate;
	struct thread *block;
	uint32_t array;
	const void *dtv;
	bool is_watched; /* its table of TLS blocks is in the live map */
};

static void *come_and_go(void *arg)
{
	struct had *had = arg;
	struct block_entry old;

	had->dtv = cpu_dtv_block();
	if (had->is_watched)
		blocks_put_slow((uint64_t)(uintptr_t)had->dtv, 7, 1000, 1, &old);
	had->gate = thread_arrive();
	thread_make_ready(SEG_MODE_ON);
	had->block = thread_self;
	had->array = thread_self ? thread_self->ledger.array : UINT32_MAX;
	return NULL;
}

/* A room of its own for each stack, so that no address comes twice. */
static char *new_room(int count)
{
	char *room = mmap(NULL, (size_t)STACK * (size_t)count, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_true(room != MAP_FAILED);
	return room;
}

static void start_at(char *stack, pthread_t *t, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;

	assert_int_equal(mprotect(stack, STACK, PROT_READ | PROT_WRITE), 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	assert_int_equal(pthread_create(t, &attr, fn, arg), 0);
	pthread_attr_destroy(&attr);
}

static void run_at(char *stack, void *(*fn)(void *), void *arg)
{
	pthread_t t;

	start_at(stack, &t, fn, arg);
	pthread_join(t, NULL);
}

/* How many of the pointers differ. */
static int distinct(const struct had *had, int count, size_t offset)
{
	int n = 0, k;

	for (int i = 0; i < count; i++) {
		const char *mine = (const char *)&had[i] + offset;

		for (k = 0; k < i; k++) {
			const char *other = (const char *)&had[k] + offset;

			if (*(void *const *)(const void *)mine ==
			    *(void *const *)(const void *)other)
				break;
		}
		n += k == i;
	}
	return n;
}

static struct had seen[SHORT];

static atomic_int arrived;
static atomic_bool go_home;

static void *come_and_stay(void *arg)
{
	come_and_go(arg);
	atomic_fetch_add(&arrived, 1);
	while (!atomic_load(&go_home))
		sched_yield();
	return NULL;
}

static atomic_int stop, broken, churned;

/* TSan does not know that the end of a thread comes after all it did. */
static void last_event(void)
{
	STORE_RELEASE(&thread_gate->state, thread_gate->resting);
}

/* Lives long, and looks whether what it has is still its own. */
static void *stay(void *arg)
{
	uint64_t mark = (uint64_t)(uintptr_t)arg;
	struct block_entry old;
	struct thread *t;

	blocks_put_slow((uint64_t)(uintptr_t)cpu_dtv_block(), 7, 1000, 1, &old);
	thread_arrive();
	thread_make_ready(SEG_MODE_ON);
	t = thread_self;
	if (!t)
		return NULL;
	STORE(&t->pace.clock_ns, mark);
	/* its table grows, and moves: no sign of death */
	if (mark % 2) {
		thread_forget_dtv();
		blocks_take_slow((uint64_t)(uintptr_t)cpu_dtv_block());
	}
	while (!stop) {
		thread_enter(thread_gate);
		if (LOAD(&t->pace.clock_ns) != mark || thread_self != t)
			broken++;
		thread_leave(thread_gate);
		if (LOAD(&thread_gate->state) != thread_gate->resting)
			broken++;
	}
	last_event();
	return NULL;
}

static void *mark_and_go(void *arg)
{
	struct had had = {.is_watched = (uintptr_t)arg % 2};
	uint64_t mark = (uint64_t)(uintptr_t)arg << 20;

	come_and_go(&had);
	if (had.block) {
		STORE(&had.block->pace.clock_ns, mark);
		for (int i = 0; i < 100; i++)
			if (LOAD(&had.block->pace.clock_ns) != mark)
				broken++;
	}
	last_event();
	if (had.is_watched)
		blocks_take_slow((uint64_t)(uintptr_t)had.dtv);
	return NULL;
}

static void *churn(void *arg)
{
	uintptr_t base = (uintptr_t)arg;
	char *room = new_room(MANY);

	for (uintptr_t i = 0; i < MANY; i++) {
		run_at(room + STACK * i, mark_and_go, (void *)(base + i));
		if (i % 4)
			munmap(room + STACK * i, STACK);
		churned++;
	}
	return NULL;
}

static pthread_barrier_t barrier;
static atomic_int crowd, kept;

static void *wait_in_the_crowd(void *arg)
{
	struct gate *g = thread_arrive();

	thread_make_ready(SEG_MODE_ON);
	if (LOAD(&g->state) == THREAD_CROWDED) {
		crowd++;
		if (thread_self)
			broken++;
	} else {
		kept += thread_self != NULL;
	}
	pthread_barrier_wait(&barrier); /* memory is there again */
	pthread_barrier_wait(&barrier);
	if (LOAD(&g->state) == THREAD_CROWDED) {
		while (!thread_may_retry())
			;
		g = thread_arrive();
		thread_make_ready(SEG_MODE_ON);
	} else if (LOAD(&g->state) == THREAD_BARE) {
		thread_make_ready(SEG_MODE_ON);
	}
	if (!thread_self || LOAD(&g->state) != g->resting)
		broken++;
	return arg;
}

static void *sleep_dormant(void *arg)
{
	atomic_int *blocks = arg;
	struct gate *g = thread_arrive();

	thread_make_ready(SEG_MODE_DORMANT);
	if (LOAD(&g->state) != THREAD_DORMANT)
		broken++;
	*blocks += thread_self != NULL;
	/* switched on */
	thread_make_ready(SEG_MODE_ON);
	if (!thread_self || thread_block(g) != thread_self)
		broken++;
	return NULL;
}

/* This case and the next one come first: nothing of dead threads is there yet. */
TEST(a_dormant_thread_has_a_gate_and_no_block)
{
	char *room = new_room(DORMANT);
	atomic_int blocks = 0;

	broken = 0;
	for (size_t i = 0; i < DORMANT; i++)
		run_at(room + STACK * i, sleep_dormant, &blocks);
	assert_int_equal(broken, 0);
	assert_int_equal(blocks, 0);
	munmap(room, STACK * (size_t)DORMANT);
}

TEST(threads_without_room_are_told_so_and_may_ask_again)
{
	char *room = new_room(MANY);
	pthread_t t[MANY];

	broken = crowd = kept = 0;
	pthread_barrier_init(&barrier, NULL, MANY + 1);
	mem_init(mem_total());
	for (int i = 0; i < MANY; i++)
		start_at(room + (size_t)STACK * (size_t)i, &t[i], wait_in_the_crowd, NULL);
	pthread_barrier_wait(&barrier);
	mem_init(UINT64_MAX);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < MANY; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(broken, 0);
	assert_true(crowd >= MANY / 2);
	assert_true(kept <= DORMANT); /* blocks that there were */
	munmap(room, (size_t)STACK * MANY);
}

TEST(what_unmapped_threads_had_goes_to_others)
{
	char *room = new_room(SHORT);
	const struct had *first;

	for (int i = 0; i < SHORT; i++) {
		seen[i] = (struct had){0};
		run_at(room + (size_t)STACK * (size_t)i, come_and_go, &seen[i]);
		assert_non_null(seen[i].block);
		munmap(room + (size_t)STACK * (size_t)i, STACK);
	}
	/* those of the tests before are found one after the other */
	first = &seen[SHORT / 2];
	assert_true(distinct(first, SHORT / 2, offsetof(struct had, gate)) < 32);
	assert_true(distinct(first, SHORT / 2, offsetof(struct had, block)) < 32);
	/* arrays of their own go round as well */
	for (int i = SHORT / 2; i < SHORT; i++)
		assert_true(ledger_is_owned(seen[i].array));
}

TEST(a_table_that_libc_has_freed_means_a_dead_thread)
{
	char *room = new_room(SHORT);
	int i;

	/* a sampled process has its few blocks elsewhere */
	assert_true(sample_init(0));
	for (i = 0; i < 500; i++) {
		seen[i] = (struct had){.is_watched = true};
		run_at(room + (size_t)STACK * (size_t)i, come_and_go, &seen[i]);
		assert_non_null(seen[i].block);
		/* libc frees it; the stack stays mapped */
		blocks_take_slow((uint64_t)(uintptr_t)seen[i].dtv);
	}
	assert_true(distinct(seen, 500, offsetof(struct had, block)) < 64);
	munmap(room, (size_t)STACK * SHORT);
}

TEST(nothing_is_taken_from_a_living_thread)
{
	pthread_t stayers[STAYERS], churners[CHURNERS];

	stop = broken = churned = 0;
	for (uintptr_t i = 0; i < STAYERS; i++)
		assert_int_equal(pthread_create(&stayers[i], NULL, stay, (void *)(i + 1)), 0);
	for (uintptr_t i = 0; i < CHURNERS; i++)
		assert_int_equal(
		    pthread_create(&churners[i], NULL, churn, (void *)((i + 1) << 16)), 0);
	for (int i = 0; i < CHURNERS; i++)
		pthread_join(churners[i], NULL);
	stop = 1;
	for (int i = 0; i < STAYERS; i++)
		pthread_join(stayers[i], NULL);
	assert_int_equal(churned, CHURNERS * MANY);
	assert_int_equal(broken, 0);
}

/*
 * More threads at once than there are arrays: none has that of another, the
 * first have their own and the rest share.
 */
TEST(living_threads_have_arrays_of_their_own)
{
	enum { AT_ONCE = LEDGER_ARRAYS };
	static pthread_t threads[AT_ONCE];
	char *room = new_room(AT_ONCE);
	uint32_t owners[LEDGER_ARRAYS] = {0};
	int own = 0;

	assert_int_equal(start(NULL), 0);
	assert_true(sample_init(0)); /* exact */
	thread_restart();            /* arrays are given out from the first on */
	for (int i = 0; i < AT_ONCE; i++) {
		seen[i] = (struct had){0};
		start_at(room + (size_t)STACK * (size_t)i, &threads[i], come_and_stay, &seen[i]);
	}
	while (atomic_load(&arrived) < AT_ONCE)
		sched_yield();
	for (int i = 0; i < AT_ONCE; i++) {
		assert_true(seen[i].array < LEDGER_ARRAYS);
		owners[seen[i].array]++;
	}
	for (uint32_t i = 0; i < LEDGER_ARRAYS; i++) {
		if (!ledger_is_owned(i))
			continue;
		assert_true(owners[i] <= 1);
		own += (int)owners[i];
	}
	/* the test's own thread may have one */
	assert_in_range(
	    own, SEG_OWNED_ARRAYS + SEG_MORE_COUNT - 1, SEG_OWNED_ARRAYS + SEG_MORE_COUNT);
	atomic_store(&go_home, true);
	for (int i = 0; i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
}

TEST_GROUP(start, NULL);

/* test_c_stack.c - memo, walk, unwind rules and threads on real stacks, against backtrace(); also by many threads while objects go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "test.h"
#include "base/attr.h"
#include "collector/heap/ledger_hit.h"
#include "collector/stack/memo.h"
#include "collector/stack/outer.h"
#include "collector/stack/nested.h"
#include "collector/unwind/module.h"
#include "collector/unwind/rules.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"
#include "collector/unwind/walk.h"

enum { THREADS = 4, ROUNDS = 600, FRAMES = 300, COROUTINE = 128 << 10 };

extern void *__libc_stack_end;

static _Thread_local uint32_t found_first, found_whole, found_second, joined;
static uint32_t checked, nested_checked, wrong, stop;

/* What both say of the frames above hook(). */
static void compare(struct site_id s, void *const *theirs, int n)
{
	uint64_t ours[FRAMES];
	int count = (int)sites_frames(s, ours, FRAMES), skip = 1, i;

	/* theirs begins with hook() itself, and what sanitizers put there */
	while (skip < 4 && skip < n && count > 0 &&
	    SEG_FRAME_PC(ours[0]) != (uint64_t)(uintptr_t)theirs[skip])
		skip++;
	for (i = 0; i < count && i + skip < n; i++)
		if (SEG_FRAME_PC(ours[i]) != (uint64_t)(uintptr_t)theirs[i + skip])
			ADD(&wrong, 1);
	/* where a stack begins, one may have a frame more */
	if (count == 0 || count + skip + 2 < n)
		ADD(&wrong, 1);
}

/* The site that malloc() finds without a search, if it does; else 0. */
static struct site_id found_by_hook(struct thread *t, const struct cpu_frame *c)
{
	const uint64_t key = memo_key(c, SEG_API_MALLOC);
	uint64_t checks;
	uint32_t i, site;
	struct memo_chunk *e = memo_look(t, c, key, &i, &checks);

	found_first += i == MEMO_WORDS;
	if (i < MEMO_WORDS) {
		if (!memo_second(t, c, key, e, i, &site))
			return (struct site_id){0};
		found_second++;
		return (struct site_id){site};
	}
	if (i != MEMO_WORDS)
		return (struct site_id){0};
	i = memo_fails(t, checks);
	if (!memo_is_stamped(t, e, checks, &site))
		i = 0;
	else if (!i) {
		found_whole++;
		return (struct site_id){site};
	}
	joined++;
	return memo_site_at(t, c, SEG_API_MALLOC, e, i);
}

/* As an exported hook does it, in exact mode and inside another hook. */
__attribute__((noinline)) static void hook(void)
{
	CPU_CALLER(c);
	struct thread *t = thread_self;
	uint64_t scratch[FRAMES];
	struct site_id s;
	bool own, whole;
	void *theirs[FRAMES];
	int n = backtrace(theirs, FRAMES);

	if (!t) {
		thread_arrive();
		thread_make_ready(SEG_MODE_ON);
		t = thread_self;
		if (!t) {
			ADD(&wrong, 1);
			return;
		}
	}
	thread_enter(thread_gate);
	s = found_by_hook(t, &c);
	if (s.v)
		compare(s, theirs, n);
	s = memo_site(t, &c, SEG_API_MALLOC);
	compare(s, theirs, n);
	compare(memo_site(t, &c, SEG_API_MALLOC), theirs, n); /* by memo */
	if (!ledger_alloc(t, s.v, 16))
		ADD(&wrong, 1);
	thread_leave(thread_gate);
	ADD(&checked, 1);
	if (LOAD(&checked) % 8)
		return;
	compare(nested_walk(t, &c, SEG_API_MALLOC, scratch, FRAMES, &own, &whole), theirs, n);
	ADD(&nested_checked, 1);
}

__attribute__((noinline)) static void descend(uint32_t path, int depth)
{
	char room[64];

	__asm__ volatile("" ::"r"(room) : "memory");
	if (depth == 0) {
		hook();
	} else if (path & 1) { /* remarks keep the two calls apart */
		descend(path >> 1, depth - 1);
		__asm__ volatile("# one" ::: "memory");
	} else {
		descend(path >> 1, depth - 1);
		__asm__ volatile("# none" ::: "memory");
	}
	__asm__ volatile("" ::: "memory");
}

static int start(void **state)
{
	size_t bytes = (size_t)64 << 20;
	void *warm[4];
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *find = dlsym(RTLD_DEFAULT, "_dl_find_object");
	const uint32_t *pthread_bytes = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
	struct rlimit stack;

	(void)state;
	if (!find || p == MAP_FAILED)
		return -1;
	(void)backtrace(warm, 4); /* loads libgcc_s, allocates */
	if (!segment_init_plain(p, bytes, bytes))
		return -1;
	tick_start(true);
	if (getrlimit(RLIMIT_STACK, &stack) != 0 || !pthread_bytes)
		return -1;
	walk_init(&(struct walk_facts){
	    (uint64_t)(uintptr_t)__libc_stack_end, stack.rlim_cur, *pthread_bytes, true, true});
	thread_init(true, true);
	return module_init(find, "test_c_stack") && rules_init() && sites_init(1) && ledger_init(1)
	    ? 0
	    : -1;
}

TEST(stacks_of_all_depths_equal_the_unwinders)
{
	checked = wrong = 0;
	for (uint32_t path = 0; path < ROUNDS; path++)
		descend(path * 2654435761u, (int)(path % 60));
	assert_int_equal(checked, ROUNDS);
	assert_true(nested_checked > 0);
	assert_int_equal(wrong, 0);
}

static void on_signal(int number)
{
	(void)number;
	descend(5, 3);
}

/* Calls `often` more than `seldom`; says how many were at the first place. */
static uint32_t found_of(uint32_t seldom, uint32_t often, int rounds)
{
	found_first = 0;
	for (int i = 0; i < rounds; i++)
		descend(i % 8 ? often : seldom, 32);
	return found_first;
}

TEST(the_stack_that_comes_most_is_found_first)
{
	checked = wrong = 0;
	/* the same but for one of the innermost calls, which are the last bits */
	(void)found_of(UINT32_C(0), UINT32_C(0), 1);
	(void)found_of(UINT32_C(0), UINT32_C(1) << 31, 400);
	assert_true(found_of(UINT32_C(0), UINT32_C(1) << 31, 800) >= 600);
	/* times change: seldom becomes often */
	(void)found_of(UINT32_C(1) << 31, UINT32_C(0), 8000);
	assert_true(found_of(UINT32_C(1) << 31, UINT32_C(0), 800) >= 600);
	assert_int_equal(wrong, 0);
}

/*
 * Two stacks that differ in an inner frame, one as often as the other. Depending on
 * where the stack is, another stack may have their places, but not at three depths.
 */
TEST(the_second_place_is_found_without_a_search)
{
	bool found = false;

	wrong = 0;
	for (int depth = 32; depth > 29; depth--) {
		found_first = found_second = 0;
		for (int i = 0; i < 400; i++)
			descend(i % 2 ? UINT32_C(1) << (depth - 1) : 0, depth);
		found |= found_first + found_second >= 300;
	}
	assert_true(found);
	assert_int_equal(wrong, 0);
}

/* The outermost calls of 20 drawn at random, so the copy seldom holds. */
static void take_turns(uint32_t rounds)
{
	static uint32_t random = 1;

	while (rounds-- > 0) {
		random = random * 1664525 + 1013904223;
		descend(random >> 16 & 0x7f, 20);
	}
}

static uint32_t turns_used(const struct turns *all)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 1 << TURNS_BITS; i++)
		n += (all->tag[i][0] != 0) + (all->tag[i][1] != 0);
	return n;
}

TEST(turns_are_proven_by_their_frames)
{
	struct turns *all;

	wrong = joined = 0;
	take_turns(4000);
	all = thread_self->lookup.cache;
	assert_non_null(all);
	assert_true(turns_used(all) > 64);
	assert_true(joined > 1000);
	assert_int_equal(wrong, 0);
	/* a hash that leads to the frames of another stack */
	for (uint32_t i = 0; i < 1 << TURNS_BITS; i++) {
		uint64_t tag = all->tag[i][0];

		all->tag[i][0] = all->tag[i][1];
		all->tag[i][1] = tag;
	}
	take_turns(2000);
	assert_int_equal(wrong, 0);
	/* a forked child does so; its sites have other numbers */
	thread_drop_caches(thread_self);
	assert_int_equal(turns_used(all), 0);
	take_turns(2000);
	assert_int_equal(wrong, 0);
}

/*
 * Room whose size is not known needs a frame pointer. Bits of `large` say which
 * frames have more of it, bits of `path` from which of two places they call. A
 * memo loads words at places of the last stack, which are room now: so that is not
 * fenced in by ASan.
 */
__attribute__((noinline, no_sanitize_address)) static void descend_by_frame_pointers(
    uint32_t path, uint32_t large, int depth)
{
	char *room = __builtin_alloca(large & 1 ? 160 : 64);

	__asm__ volatile("" ::"r"(room) : "memory");
	if (depth == 0) {
		hook();
	} else if (path & 1) {
		descend_by_frame_pointers(path >> 1, large >> 1, depth - 1);
		__asm__ volatile("# one" ::: "memory");
	} else {
		descend_by_frame_pointers(path >> 1, large >> 1, depth - 1);
		__asm__ volatile("# none" ::: "memory");
	}
	__asm__ volatile("" ::"r"(room) : "memory");
}

TEST(frame_pointers_are_proven_by_words_too)
{
	wrong = 0;
	for (int i = 0; i < 200; i++)
		descend_by_frame_pointers(0, 0, i % 2 ? 20 : 23);
	found_whole = 0;
	for (int i = 0; i < 100; i++)
		descend_by_frame_pointers(0, 0, 20);
	assert_true(found_whole >= 95);
	assert_int_equal(wrong, 0);
}

/* The same sp, but another rbp and other return addresses all along. */
TEST(frame_pointers_may_lie_anywhere)
{
	uint32_t random = 1;

	wrong = 0;
	for (int i = 0; i < 20000; i++) {
		uint32_t large = 0;

		random = random * 1664525 + 1013904223;
		/* nine of eighteen, in sixteen ways; sixteen paths */
		for (int k = 0; k < 9; k++)
			large |= 1u << (2 * k + (random >> 28 >> k % 4 & 1));
		descend_by_frame_pointers(random >> 20 & 0xf, large, 18);
		descend_by_frame_pointers((random >> 20 & 0xf) << 14, large, 18);
	}
	assert_int_equal(wrong, 0);
}

/* Says how many frames are kept. */
__attribute__((noinline)) static uint32_t deep_hook(void)
{
	CPU_CALLER(c);
	struct thread *t = thread_self;
	uint64_t frames[2 * OUTER_MAX];
	uint32_t n;

	thread_enter(thread_gate);
	n = sites_frames(memo_site(t, &c, SEG_API_MALLOC), frames, 2 * OUTER_MAX);
	thread_leave(thread_gate);
	return n;
}

__attribute__((noinline)) static void deepen(uint32_t at, uint32_t depth)
{
	uint32_t least = at < OUTER_MAX / 4 ? at : OUTER_MAX / 4;

	if (deep_hook() < least)
		wrong++;
	if (at < depth)
		deepen(at + 1, depth);
	if (deep_hook() < least)
		wrong++;
}

TEST(a_deep_recursion_is_no_walk_at_each_event)
{
	const uint64_t *cut = &segment.header->counts[SEG_TRUNCATED_STACKS];
	uint64_t before = *cut;

	wrong = 0;
	deepen(0, 5000);
	assert_int_equal(wrong, 0);
	assert_true(*cut > before);
	assert_true(*cut - before < 2 * 5000 / 128); /* of 10,000 events */
}

TEST(a_stack_passes_through_a_signal_frame)
{
	struct sigaction act = {.sa_handler = on_signal};

	checked = wrong = 0;
	sigaction(SIGUSR1, &act, NULL);
	raise(SIGUSR1);
	raise(SIGUSR1);
	assert_int_equal(checked, 2);
	assert_int_equal(wrong, 0);
}

static ucontext_t home, away;

static void coroutine(void)
{
	descend(3, 20);
	swapcontext(&away, &home);
}

/* Between two pages that cannot be read: nothing beyond is looked at. */
TEST(a_coroutine_between_guard_pages_is_walked)
{
	char *p =
	    mmap(NULL, COROUTINE + 2 * CPU_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_int_equal(mprotect(p + CPU_PAGE, COROUTINE, PROT_READ | PROT_WRITE), 0);
	getcontext(&away);
	away.uc_stack.ss_sp = p + CPU_PAGE;
	away.uc_stack.ss_size = COROUTINE;
	makecontext(&away, coroutine, 0);
	checked = wrong = 0;
	swapcontext(&home, &away);
	assert_int_equal(checked, 1);
	assert_int_equal(wrong, 0);
	munmap(p, COROUTINE + 2 * CPU_PAGE);
}

static void *walk_much(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg + 1;

	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 1103515245 + 12345;
		descend(seed >> 8, (int)(seed >> 16) % 40);
	}
	return NULL;
}

static void *load_and_unload(void *arg)
{
	while (!LOAD(&stop)) {
		void *lib = dlopen("libBrokenLocale.so.1", RTLD_NOW);

		if (!lib)
			ADD(&wrong, 1);
		module_distrust();
		if (lib)
			dlclose(lib);
		module_distrust();
	}
	return arg;
}

TEST(many_threads_walk_while_objects_come_and_go)
{
	pthread_t t[THREADS], loader;

	checked = wrong = stop = 0;
	assert_int_equal(pthread_create(&loader, NULL, load_and_unload, NULL), 0);
	for (int round = 0; round < 2; round++) { /* blocks are inherited */
		for (uintptr_t i = 0; i < THREADS; i++)
			assert_int_equal(
			    pthread_create(&t[i], NULL, walk_much, (void *)(i + round * 7)), 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
	}
	STORE(&stop, 1);
	pthread_join(loader, NULL);
	assert_int_equal(checked, 2 * THREADS * ROUNDS);
	assert_int_equal(wrong, 0);
}

TEST_GROUP(start, NULL);

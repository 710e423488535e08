/* test_c_walk.c - promises of walk.h: no load faults whatever a stack holds, and no page is touched without need. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "test.h"
#include "base/attr.h"
#include "collector/heap/ledger.h"
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

#include "code_words.h"

enum {
	PAGES = 24,
	WORDS = CPU_PAGE / 8,
	CODES = 4096,
	LAYOUTS = 12000, /* of each kind; SEEP_FULL=1: LAYOUTS_LONG */
	LAYOUTS_LONG = 500000,
	LOOKS = 4, /* events in one layout */
	SCRATCH = 64,
};

extern void *__libc_stack_end;

static struct walk_facts facts;
static uint64_t codes[CODES];
static sigjmp_buf back;
static volatile sig_atomic_t armed;

static void on_fault(int number)
{
	if (!armed) {
		signal(number, SIG_DFL);
		return;
	}
	armed = 0;
	siglongjmp(back, number);
}

/*
 * Run-time code: each return address in it is proven, and followed by what an
 * epilogue may be, or not. Some pages can be executed only, some not at all.
 */
enum { MADE_PAGES = 8 };

static uint64_t make_code(void)
{
	static const uint8_t one[16] = {0xff, 0xd6, 0xc3, 0xff, 0xd6, 0xc9, 0xc3, 0xff, 0xd6, 0x48,
	    0x83, 0xc4, 0x08, 0xc3, 0xff, 0xd6};
	uint8_t *p = mmap(NULL, MADE_PAGES * CPU_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true((void *)p != MAP_FAILED);
	for (uint32_t i = 0; i < MADE_PAGES * CPU_PAGE / sizeof(one); i++)
		memcpy(p + i * sizeof(one), one, sizeof(one));
	assert_int_equal(mprotect(p + 2 * CPU_PAGE, CPU_PAGE, PROT_EXEC), 0);
	assert_int_equal(mprotect(p + 4 * CPU_PAGE, CPU_PAGE, PROT_NONE), 0);
	assert_int_equal(munmap(p + 6 * CPU_PAGE, CPU_PAGE), 0);
	return (uint64_t)(uintptr_t)p;
}

static void gather_codes(void)
{
	const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	const uint64_t handler = code_words_restorer();
	void *frames[32];
	struct code_words modules = {codes, 0, CODES / 2, 500};
	int seen = backtrace(frames, 32), n;

	const uint64_t made = make_code();

	assert_true(handler != 0 && vdso != 0 && seen > 2);
	dl_iterate_phdr(code_words_add, &modules);
	n = modules.count;
	while (n < CODES) {
		switch (draw(10)) {
		case 8: /* in no module, and between its pages */
		case 9:
			codes[n++] = made + draw(MADE_PAGES * CPU_PAGE);
			break;
		case 0:
		case 1:
			codes[n++] = handler;
			break;
		case 2:
			codes[n++] = vdso + 0x600 + draw(0x800);
			break;
		case 3: /* first bytes of functions */
			codes[n++] = (uint64_t)(uintptr_t)(draw(2) ? dlsym(RTLD_DEFAULT, "printf")
			                                           : dlsym(RTLD_DEFAULT, "qsort"));
			break;
		default: /* up to _start */
			codes[n++] = (uint64_t)(uintptr_t)frames[draw((uint64_t)seen)];
		}
	}
}

/* A stack of nobody: words that look like code, frames, anything. */
struct region {
	char *at;
	uint32_t pages;
	enum { THERE, CLOSED, GONE } is[PAGES];
};

static uint64_t any_word(const struct region *r)
{
	uint64_t here = (uint64_t)(uintptr_t)r->at;

	switch (draw(10)) {
	case 0:
		return 0;
	case 1:
		return draw(UINT64_MAX);
	case 2: /* beyond both ends, too */
		return here - CPU_PAGE + draw((uint64_t)(r->pages + 2) * CPU_PAGE);
	case 3:
		return here + draw(r->pages * WORDS) * 8;
#ifndef __SANITIZE_ADDRESS__ /* whose shadow has opinions of such loads */
	case 4:              /* our own stack, where we are */
		return (uint64_t)(uintptr_t)__builtin_frame_address(0) + draw(512) * 8;
#endif
	default:
		return codes[draw(CODES)];
	}
}

/* When somebody else has taken the place of a page it stays a hole. */
static void set_hole(struct region *r, uint32_t page, bool hole)
{
	char *p = r->at + (size_t)page * CPU_PAGE;

	if ((r->is[page] != THERE) == hole)
		return;
	if (hole) {
		r->is[page] = draw(2) ? GONE : CLOSED;
		if (r->is[page] == GONE)
			assert_int_equal(munmap(p, CPU_PAGE), 0);
		else
			assert_int_equal(mprotect(p, CPU_PAGE, PROT_NONE), 0);
		return;
	}
	if (r->is[page] == CLOSED)
		assert_int_equal(mprotect(p, CPU_PAGE, PROT_READ | PROT_WRITE), 0);
	else if (mmap(p, CPU_PAGE, PROT_READ | PROT_WRITE,
	             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != p)
		return;
	r->is[page] = THERE;
}

/* Words around `page`, where frames will be looked for. */
static void scribble(struct region *r, uint32_t page)
{
	uint64_t *word = (uint64_t *)(void *)(r->at + (size_t)page * CPU_PAGE);

	for (uint32_t i = 0; i < WORDS; i++)
		word[i] = any_word(r);
}

static void look_at(struct thread *t, const struct cpu_frame *c)
{
	uint64_t scratch[SCRATCH];
	uint32_t site;
	bool own, whole;

	thread_enter(thread_gate);
	/* as a hook does it */
	if (!memo_first(t, c, memo_key(c, SEG_API_MALLOC), &site))
		(void)memo_site(t, c, SEG_API_MALLOC);
	(void)nested_walk(t, c, SEG_API_MALLOC, scratch, SCRATCH, &own, &whole);
	thread_leave(thread_gate);
}

/* One layout, looked at several times while pages come and go. */
static void try_layout(struct thread *t, struct region *r)
{
	/* few places, so that the memo knows them from other layouts */
	const uint32_t page = 1 + (uint32_t)draw(r->pages - 8);
	const uint64_t offset = draw(3) ? CPU_PAGE - draw(6) * 8 : CPU_PAGE - draw(WORDS) * 8;
	const uint64_t sp = (uint64_t)(uintptr_t)r->at + (uint64_t)page * CPU_PAGE + offset;
	struct cpu_frame c = {codes[draw(CODES)], sp, any_word(r)};
	uint32_t i;

	set_hole(r, page, false);
	if (r->is[page] != THERE)
		return;
	for (i = page; i < page + 3; i++) {
		if (draw(4))
			set_hole(r, i, false);
		if (r->is[i] == THERE && draw(2))
			scribble(r, i);
	}
	for (i = 0; i < LOOKS; i++) {
		look_at(t, &c);
		set_hole(r, page + 1 + (uint32_t)draw(6), draw(2));
		if (!draw(3))
			c.fp = any_word(r);
	}
}

static struct thread *my_block(void)
{
	struct thread *t = thread_self;

	if (!t) {
		thread_arrive();
		thread_make_ready(SEG_MODE_ON);
		t = thread_self;
		assert_non_null(t);
	}
	return t;
}

static void try_layouts(struct thread *t, uint64_t seed)
{
	static uint64_t layout; /* survives the jump */
	const uint64_t count = getenv("SEEP_FULL") ? LAYOUTS_LONG : LAYOUTS;
	struct region r = {.pages = PAGES};

	draw_seed = seed;
	r.at = mmap(
	    NULL, PAGES * CPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(r.at != MAP_FAILED);
	for (uint32_t i = 0; i < PAGES; i++)
		scribble(&r, i);
	layout = 0;
	if (sigsetjmp(back, 1) != 0)
		fail_msg("a load faulted in layout %llu of seed %llu", (unsigned long long)layout,
		    (unsigned long long)seed);
	for (armed = 1; layout < count; layout++)
		try_layout(t, &r);
	armed = 0;
	for (uint32_t i = 0; i < PAGES; i++)
		set_hole(&r, i, false);
}

TEST(no_load_faults_on_any_stack)
{
	try_layouts(my_block(), 88172645463325252);
}

/* Before Linux 5.14. Own stacks and the page of sp are all there is. */
TEST(no_load_faults_on_kernels_that_cannot_be_asked)
{
	struct walk_facts older = facts;

	older.can_probe = false;
	walk_init(&older);
	thread_drop_caches(my_block());
	try_layouts(my_block(), 6172645463325251);
	walk_init(&facts);
	thread_drop_caches(my_block());
}

static void *try_in_a_thread(void *arg)
{
	/* its own stack is found another way than the first one's */
	look_at(my_block(),
	    &(struct cpu_frame){(uint64_t)(uintptr_t)__builtin_return_address(0),
	        (uint64_t)(uintptr_t)__builtin_frame_address(0) + 16, 0});
	if (my_block()->stack.hi - my_block()->stack.lo < 64 << 10)
		return NULL;
	try_layouts(my_block(), 31172645463325253);
	return arg;
}

TEST(no_load_faults_in_a_pthread)
{
	pthread_t thread;
	void *done = NULL;

	assert_int_equal(pthread_create(&thread, NULL, try_in_a_thread, state), 0);
	pthread_join(thread, &done);
	assert_ptr_equal(done, state);
}

/* A return address into test_on_the_way(), whose frame is the same in all builds. */
static uint64_t way;

void test_note_way(void);
void test_on_the_way(void);

void test_note_way(void)
{
	way = (uint64_t)(uintptr_t)__builtin_return_address(0);
}

__asm__(".text\n"
        ".type test_on_the_way, @function\n"
        "test_on_the_way:\n"
        "	.cfi_startproc\n"
        "	sub $24, %rsp\n"
        "	.cfi_adjust_cfa_offset 24\n"
        "	call test_note_way\n"
        "	add $24, %rsp\n"
        "	.cfi_adjust_cfa_offset -24\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size test_on_the_way, .-test_on_the_way\n");

/* How far the CFA is from sp there. */
static uint64_t step_of_way(void)
{
	uint64_t frame;
	struct unwind_rule rule;

	test_on_the_way();
	rule = rules_get(way, false, &frame);
	assert_int_equal(rule.kind, RULE_SP);
	return (uint64_t)rule.cfa;
}

static uint32_t resident(const char *p, uint32_t pages)
{
	unsigned char in_core[PAGES];
	uint32_t n = 0;

	assert_true(pages <= PAGES);
	assert_int_equal(mincore((void *)(uintptr_t)p, (size_t)pages * CPU_PAGE, in_core), 0);
	for (uint32_t i = 0; i < pages; i++)
		n += in_core[i] & 1;
	return n;
}

/* A return address at the end of one page leads into the next. */
TEST(only_pages_of_frames_are_touched)
{
	const uint64_t step = step_of_way();
	/* shared: pages that are only read are there as well */
	char *p =
	    mmap(NULL, PAGES * CPU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t *end = (uint64_t *)(void *)(p + CPU_PAGE);
	struct cpu_frame c = {way, (uint64_t)(uintptr_t)end - step, 0};
	struct thread *t = my_block();

	assert_true(p != MAP_FAILED);
	end[-1] = way; /* the caller's caller, whose frame is all above */
	for (int i = 0; i < 3; i++)
		look_at(t, &c);
	assert_int_equal(resident(p, PAGES), 2);
	/* and one that is in the page alone */
	end[-1] = 0;
	munmap(p + CPU_PAGE, (PAGES - 1) * CPU_PAGE);
	for (int i = 0; i < 3; i++)
		look_at(t, &c);
	munmap(p, CPU_PAGE);
}

static uint64_t cut(enum seg_count why)
{
	return LOAD(&segment.header->counts[why]);
}

/* The page above goes while the same words stay: the stack is cut, again. */
TEST(a_page_that_goes_cuts_the_stack)
{
	const uint64_t step = step_of_way();
	char *p =
	    mmap(NULL, 4 * CPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *end = (uint64_t *)(void *)(p + CPU_PAGE);
	struct cpu_frame c = {way, (uint64_t)(uintptr_t)end - step, 0};
	struct thread *t = my_block();
	uint64_t before;

	assert_true(p != MAP_FAILED);
	end[-1] = way;
	before = cut(SEG_CUT_BOUNDS);
	for (int i = 0; i < 5; i++)
		look_at(t, &c);
	assert_int_equal(cut(SEG_CUT_BOUNDS), before);
	munmap(end, CPU_PAGE);
	look_at(t, &c);
	assert_true(cut(SEG_CUT_BOUNDS) > before);
	munmap(p, 4 * CPU_PAGE);
}

/* The hook's return address is the last word below a hole. */
TEST(a_stack_that_ends_at_sp_is_not_left)
{
	char *p =
	    mmap(NULL, 2 * CPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct cpu_frame c = {0, (uint64_t)(uintptr_t)p + CPU_PAGE, 0};

	assert_true(p != MAP_FAILED);
	munmap(p + CPU_PAGE, CPU_PAGE);
	(void)step_of_way();
	c.pc = way;
	for (int i = 0; i < 3; i++)
		look_at(my_block(), &c);
	munmap(p, CPU_PAGE);
}

/* A signal frame whose last words are in a hole, and one that lies. */
TEST(half_a_signal_frame_is_no_frame)
{
	char *p =
	    mmap(NULL, 2 * CPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t *end = (uint64_t *)(void *)(p + CPU_PAGE);
	struct cpu_frame c = {code_words_restorer(), (uint64_t)(uintptr_t)(end - 18), 0};
	struct thread *t = my_block();

	assert_true(p != MAP_FAILED);
	(void)step_of_way();
	munmap(end, CPU_PAGE);
	for (int i = 0; i < 3; i++)
		look_at(t, &c);
	c.sp = (uint64_t)(uintptr_t)(end - 40);
	end[-40 + 15] = 0x1234560; /* rbp, rsp, rip */
	end[-40 + 20] = (uint64_t)(uintptr_t)end + 64;
	end[-40 + 21] = way;
	for (int i = 0; i < 3; i++)
		look_at(t, &c);
	munmap(p, CPU_PAGE);
}

static int start(void **state)
{
	size_t bytes = (size_t)64 << 20;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *find = dlsym(RTLD_DEFAULT, "_dl_find_object");
	const uint32_t *pthread_bytes = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
	struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
	struct rlimit stack;

	(void)state;
	if (!find || p == MAP_FAILED || !pthread_bytes || getrlimit(RLIMIT_STACK, &stack) != 0 ||
	    !segment_init_plain(p, bytes, bytes))
		return -1;
	tick_start(true);
	facts = (struct walk_facts){
	    (uint64_t)(uintptr_t)__libc_stack_end, stack.rlim_cur, *pthread_bytes, true, true};
	walk_init(&facts);
	thread_init(true, true);
	draw_seed = 1234567;
	gather_codes();
	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGBUS, &fault, NULL);
	return module_init(find, "test_c_walk") && rules_init() && sites_init(1) && ledger_init(1)
	    ? 0
	    : -1;
}

TEST_GROUP(start, NULL);

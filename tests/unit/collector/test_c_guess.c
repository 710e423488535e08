/* test_c_guess.c - promises of guess.h: frames without unwind information are left where a call proves it, and nowhere else. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include "test.h"
#include "base/attr.h"
#include "collector/heap/ledger.h"
#include "collector/stack/memo.h"
#include "collector/unwind/module.h"
#include "collector/stack/nested.h"
#include "collector/unwind/rules.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"
#include "collector/unwind/walk.h"

#include "made_code.h"

enum { FRAMES = 128, STACK_WORDS = 4096 / 8 };

static const struct walk_facts facts = {.can_probe = true, .guess = true};

TEST(calls_are_known_by_their_bytes)
{
	static const struct {
		uint8_t bytes[CPU_CALL_BYTES];
		uint8_t count;
		bool is_call;
	} codes[] = {
	    {{0xe8, 1, 2, 3, 4}, 5, true},
	    {{0xff, 0xd0}, 2, true},                   /* call *%rax */
	    {{0x41, 0xff, 0xd2}, 3, true},             /* call *%r10 */
	    {{0xff, 0x10}, 2, true},                   /* call *(%rax) */
	    {{0xff, 0x50, 8}, 3, true},                /* call *8(%rax) */
	    {{0xff, 0x14, 0xc1}, 3, true},             /* (%rcx,%rax,8) */
	    {{0xff, 0x54, 0x24, 8}, 4, true},          /* call *8(%rsp) */
	    {{0xff, 0x15, 1, 2, 3, 4}, 6, true},       /* call *N(%rip) */
	    {{0x41, 0xff, 0x95, 1, 2, 3, 4}, 7, true}, /* call *N(%r13) */
	    {{0xff, 0x94, 0x24, 1, 2, 3, 4}, 7, true}, /* call *N(%rsp) */
	    {{0xff, 0x14, 0x25, 1, 2, 3, 4}, 7, true}, /* call *N */
	    {{0xff, 0xe0}, 2, false},                  /* jmp *%rax */
	    {{0xff, 0x15, 1, 2}, 4, false},            /* too short */
	    {{0xff, 0x10, 0x90}, 3, false},            /* call, nop */
	    {{0xe9, 1, 2, 3, 4}, 5, false},            /* jmp */
	    {{0xe8, 1, 2, 3, 4, 0x90}, 6, false},      /* call, nop */
	    {{0x90, 0x90, 0x90, 0x90, 0x90}, 5, false},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (cpu_follows_call(codes[i].bytes + codes[i].count, codes[i].count) !=
		    codes[i].is_call)
			fail_msg("code %zu", i);
	}
	/* no byte before the first is read */
	assert_false(cpu_follows_call(codes[0].bytes + 5, 4));
	assert_false(cpu_follows_call(codes[1].bytes + 2, 1));
	assert_false(cpu_follows_call(codes[1].bytes, 0));
}

TEST(epilogues_say_how_large_a_frame_is)
{
	static const struct {
		uint8_t bytes[CPU_EPILOGUE_BYTES];
		uint8_t count;
		enum cpu_epilogue kind;
		int32_t cfa;
	} codes[] = {
	    {{0x48, 0x83, 0xc4, 0x18, 0xc3}, 5, CPU_EPILOGUE_SP, 32},
	    {{0x48, 0x83, 0xc4, 0x0c, 0xc3}, 5, CPU_EPILOGUE_NONE, 0},
	    {{0x48, 0x83, 0xc4, 0x88, 0xc3}, 5, CPU_EPILOGUE_NONE, 0},
	    {{0x48, 0x83, 0xc4, 0x18, 0xc3}, 4, CPU_EPILOGUE_NONE, 0},
	    {{0xc3}, 1, CPU_EPILOGUE_SP, 8},
	    {{0x5d, 0xc3}, 2, CPU_EPILOGUE_POP_FP, 16},
	    {{0x5d, 0xc3}, 1, CPU_EPILOGUE_NONE, 0},
	    {{0xc9, 0xc3}, 2, CPU_EPILOGUE_FP, 0},
	    {{0x90}, 1, CPU_EPILOGUE_NONE, 0},
	    {{0}, 0, CPU_EPILOGUE_NONE, 0},
	};

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		int32_t cfa = 0;

		if (cpu_epilogue(codes[i].bytes, codes[i].count, &cfa) != codes[i].kind ||
		    cfa != codes[i].cfa)
			fail_msg("epilogue %zu", i);
	}
}

/* Return addresses in this program: one with unwind rules, one without. */
static uint64_t base, bare;

void test_note_base(void);
void test_note_bare(void);
void test_base(void);
void test_bare(void);

void test_note_base(void)
{
	base = (uint64_t)(uintptr_t)__builtin_return_address(0);
}

void test_note_bare(void)
{
	bare = (uint64_t)(uintptr_t)__builtin_return_address(0);
}

/* the caller of test_base() is the outermost frame */
__asm__(".text\n"
        ".type test_base, @function\n"
        "test_base:\n"
        "	.cfi_startproc\n"
        "	.cfi_undefined rip\n"
        "	sub $8, %rsp\n"
        "	call test_note_base\n"
        "	add $8, %rsp\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size test_base, .-test_base\n"
        ".type test_bare, @function\n"
        "test_bare:\n"
        "	push %rbp\n"
        "	mov %rsp, %rbp\n"
        "	call test_note_bare\n"
        "	nop\n"
        "	pop %rbp\n"
        "	ret\n"
        "	.zero 64, 0x90\n"
        ".size test_bare, .-test_bare\n");

static struct thread *my_block(void)
{
	if (!thread_self) {
		thread_arrive();
		thread_make_ready(SEG_MODE_ON);
		assert_non_null(thread_self);
	}
	return thread_self;
}

/* A stack of nobody, and run-time code. */
struct world {
	uint64_t *stack; /* one page, and one without rights behind it */
	uint8_t *code;
	uint64_t pc[MADE_KINDS]; /* return addresses in the code */
};

static void open_world(struct world *w)
{
	uint8_t *at;

	w->stack = mmap(
	    NULL, (size_t)2 * CPU_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true((void *)w->stack != MAP_FAILED);
	assert_int_equal(mprotect(w->stack + STACK_WORDS, CPU_PAGE, PROT_NONE), 0);
	at = w->code = made_pages(1);
	assert_non_null(at);
	for (int i = 0; i < MADE_KINDS; i++) {
		w->pc[i] = (uint64_t)(uintptr_t)at + made_kinds[i].call;
		at = made_write(at, (enum made_kind)i);
	}
	thread_drop_caches(my_block());
}

static void close_world(struct world *w)
{
	munmap(w->stack, (size_t)2 * CPU_PAGE);
	munmap(w->code, CPU_PAGE);
}

struct found {
	uint64_t pcs[FRAMES];
	uint32_t count, root;
	struct site_id site;
};

/* The stack of a caller, by the memo and without it, which must agree. */
static struct found look(const struct cpu_frame *c)
{
	struct thread *t = my_block();
	uint64_t plain[FRAMES], scratch[FRAMES];
	struct found f = {.count = 0};
	bool own, whole;
	struct site_id s;
	uint32_t n, i;

	thread_enter(thread_gate);
	f.site = memo_site(t, c, SEG_API_MALLOC);
	s = nested_walk(t, c, SEG_API_MALLOC, scratch, FRAMES, &own, &whole);
	thread_leave(thread_gate);
	f.count = sites_frames(f.site, f.pcs, FRAMES);
	n = sites_frames(s, plain, FRAMES);
	assert_int_equal(n, f.count);
	assert_memory_equal(plain, f.pcs, n * sizeof(plain[0]));
	f.root = sites_root(f.site);
	assert_int_equal(sites_root(s), f.root);
	for (i = 0; i < n; i++) {
		assert_int_equal(sites_guessed_after(s, i), sites_guessed_after(f.site, i));
		f.pcs[i] = SEG_FRAME_PC(f.pcs[i]);
	}
	return f;
}

static uint64_t counted(enum seg_count which)
{
	return LOAD(&segment.header->counts[which]);
}

TEST(each_kind_of_frame_is_left)
{
	struct world w;
	uint64_t *s, before = counted(SEG_GUESSED);
	struct found f;

	open_world(&w);
	/* stub, frame, pop, leave, code of this program, base */
	s = w.stack + 64;
	s[1] = w.pc[MADE_FRAME];
	/* the frame: rbp is s + 6; what it has saved leads on to s + 12 */
	s[6] = (uint64_t)(uintptr_t)(s + 12);
	s[7] = w.pc[MADE_POP];
	s[8] = (uint64_t)(uintptr_t)(s + 12);
	s[9] = w.pc[MADE_LEAVE];
	s[12] = (uint64_t)(uintptr_t)(s + 30);
	s[13] = bare;
	s[30] = 0x1234567;
	s[31] = base;
	f = look(&(struct cpu_frame){
	    w.pc[MADE_STUB], (uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)(s + 6)});
	assert_int_equal(f.count, 6);
	assert_int_equal(f.root, SITES_NODE_ROOT);
	assert_int_equal(f.pcs[0], w.pc[MADE_STUB]);
	assert_int_equal(f.pcs[1], w.pc[MADE_FRAME]);
	assert_int_equal(f.pcs[2], w.pc[MADE_POP]);
	assert_int_equal(f.pcs[3], w.pc[MADE_LEAVE]);
	assert_int_equal(f.pcs[4], bare);
	assert_int_equal(f.pcs[5], base);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(sites_guessed_after(f.site, i));
	assert_false(sites_guessed_after(f.site, 5));
	assert_true(counted(SEG_GUESSED) > before);
	close_world(&w);
}

/* The same caller and registers, other words: the memo must see it. */
TEST(other_words_are_another_stack)
{
	struct world w;
	struct cpu_frame c;
	struct found f;
	uint64_t *s;

	open_world(&w);
	s = w.stack + 64;
	s[6] = (uint64_t)(uintptr_t)(s + 20);
	s[7] = bare;
	s[20] = 0;
	s[21] = base;
	s[30] = (uint64_t)(uintptr_t)(s + 40);
	s[31] = w.pc[MADE_STUB];
	s[33] = base;
	s[41] = base;
	c = (struct cpu_frame){
	    w.pc[MADE_FRAME], (uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)(s + 6)};
	for (int i = 0; i < 6; i++) {
		f = look(&c);
		assert_int_equal(f.count, 3);
		assert_int_equal(f.pcs[2], base);
	}
	s[6] = (uint64_t)(uintptr_t)(s + 30); /* a saved frame pointer */
	for (int i = 0; i < 6; i++) {
		f = look(&c);
		assert_int_equal(f.count, 4);
		assert_int_equal(f.pcs[2], w.pc[MADE_STUB]);
	}
	s[33] = base + 1; /* a return address that is none */
	for (int i = 0; i < 6; i++) {
		f = look(&c);
		assert_int_equal(f.count, 3);
		assert_int_equal(f.root, SITES_NODE_CUT);
	}
	s[33] = base;
	for (int i = 0; i < 6; i++)
		assert_int_equal(look(&c).count, 4);
	c.fp += 8; /* the register itself */
	assert_int_equal(look(&c).count, 1);
	close_world(&w);
}

/* What may be in the frame pointer, and where its words may lead to. */
TEST(without_proof_the_stack_is_cut)
{
	struct world w;
	uint64_t *s, odd[12];
	size_t n = 0;

	open_world(&w);
	s = w.stack + 64;
	s[6] = (uint64_t)(uintptr_t)(s + 6); /* a loop */
	s[7] = w.pc[MADE_FRAME];
	s[8] = (uint64_t)(uintptr_t)(s + 4); /* runs down */
	s[9] = w.pc[MADE_FRAME];
	odd[n++] = 0;
	odd[n++] = 1;
	odd[n++] = UINT64_MAX;
	odd[n++] = (uint64_t)(uintptr_t)(s - 1);
	odd[n++] = (uint64_t)(uintptr_t)(s + 6) + 4;
	odd[n++] = (uint64_t)(uintptr_t)(w.stack + STACK_WORDS);
	odd[n++] = (uint64_t)(uintptr_t)(w.stack + STACK_WORDS - 1);
	odd[n++] = (uint64_t)(uintptr_t)w.code;
	odd[n++] = (uint64_t)(uintptr_t)&w;
	odd[n++] = base;
	for (size_t i = 0; i < n; i++) {
		struct found f =
		    look(&(struct cpu_frame){w.pc[MADE_GARBAGE], (uint64_t)(uintptr_t)s, odd[i]});

		assert_int_equal(f.count, 1);
		assert_int_equal(f.root, SITES_NODE_CUT);
	}
	for (size_t i = 6; i < 10; i += 2) {
		struct found f = look(&(struct cpu_frame){
		    w.pc[MADE_FRAME], (uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)(s + i)});

		assert_int_equal(f.count, 1);
		assert_int_equal(f.root, SITES_NODE_CUT);
	}
	close_world(&w);
}

/* Frame pointers lead through run-time code only if they lead out of it. */
TEST(frame_pointers_must_lead_home)
{
	struct world w;
	struct found f;
	uint64_t *s;

	open_world(&w);
	s = w.stack + 8;
	for (uint64_t *at = s; at < s + 400; at += 4) {
		at[6] = (uint64_t)(uintptr_t)(at + 10);
		at[7] = w.pc[MADE_FRAME];
	}
	/* after three frames, home */
	s[19] = base;
	f = look(&(struct cpu_frame){
	    w.pc[MADE_FRAME], (uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)(s + 6)});
	assert_int_equal(f.count, 5);
	assert_int_equal(f.root, SITES_NODE_ROOT);
	/* after three frames, into data, or to what follows no call */
	s[18] = 0;
	for (int i = 0; i < 3; i++) {
		s[19] = i == 0 ? 0 : i == 1 ? (uint64_t)(uintptr_t)&w : base + 1;
		thread_drop_caches(my_block());
		f = look(&(struct cpu_frame){
		    w.pc[MADE_FRAME], (uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)(s + 6)});
		assert_int_equal(f.count, 1);
		assert_int_equal(f.root, SITES_NODE_CUT);
	}
	/* 100 frames are no accident, wherever they lead */
	s[18] = (uint64_t)(uintptr_t)(s + 22);
	s[19] = w.pc[MADE_FRAME];
	thread_drop_caches(my_block());
	f = look(&(struct cpu_frame){
	    w.pc[MADE_FRAME], (uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)(s + 6)});
	assert_true(f.count > 90);
	close_world(&w);
}

/* Code that cannot be read, that is gone, that is another by now. */
TEST(code_is_asked_for_in_every_walk)
{
	struct world w;
	struct cpu_frame c;
	uint64_t *s;

	open_world(&w);
	s = w.stack + 64;
	s[1] = base;
	c = (struct cpu_frame){w.pc[MADE_STUB], (uint64_t)(uintptr_t)s, 0};
	assert_int_equal(look(&c).count, 2);
	/* a frame of 16 words; another sp, so that the memo does not answer */
	w.code[3] = w.code[9] = 0x78;
	s[1] = 0;
	s[14] = base;
	c.sp -= 8;
	assert_int_equal(look(&c).count, 2);
	assert_int_equal(mprotect(w.code, CPU_PAGE, PROT_EXEC), 0);
	c.sp -= 8;
	assert_int_equal(look(&c).root, SITES_NODE_CUT);
	assert_int_equal(mprotect(w.code, CPU_PAGE, PROT_NONE), 0);
	c.sp -= 8;
	assert_int_equal(look(&c).root, SITES_NODE_CUT);
	munmap(w.code, CPU_PAGE);
	c.sp -= 8;
	assert_int_equal(look(&c).root, SITES_NODE_CUT);
	/* a word on the stack leads there */
	c.pc = bare;
	c.fp = (uint64_t)(uintptr_t)(s + 40);
	s[41] = w.pc[MADE_FRAME];
	assert_int_equal(look(&c).root, SITES_NODE_CUT);
	close_world(&w);
}

/* A stub at the very beginning and at the very end of its page. */
TEST(code_at_the_edge_of_a_page)
{
	uint8_t *p =
	    mmap(NULL, (size_t)3 * CPU_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct world w;
	uint64_t *s;

	assert_true((void *)p != MAP_FAILED);
	p += CPU_PAGE;
	assert_int_equal(mprotect(p, CPU_PAGE, PROT_READ | PROT_WRITE), 0);
	open_world(&w);
	s = w.stack + 64;
	made_write(p, MADE_STUB);
	made_write(p + CPU_PAGE - made_kinds[MADE_STUB].count, MADE_STUB);
	s[1] = (uint64_t)(uintptr_t)p + CPU_PAGE - 5;
	s[3] = (uint64_t)(uintptr_t)p + 6;
	s[5] = base;
	assert_int_equal(
	    look(&(struct cpu_frame){(uint64_t)(uintptr_t)p + 6, (uint64_t)(uintptr_t)s, 0}).count,
	    4);
	/* a call whose return address is in the page behind */
	p[CPU_PAGE - 2] = 0xff;
	p[CPU_PAGE - 1] = 0xd6;
	s[1] = (uint64_t)(uintptr_t)p + CPU_PAGE;
	assert_int_equal(
	    look(&(struct cpu_frame){(uint64_t)(uintptr_t)p + 6, (uint64_t)(uintptr_t)s, 0}).count,
	    2);
	close_world(&w);
	munmap(p - CPU_PAGE, (size_t)3 * CPU_PAGE);
}

/* SEEP_GUESS=0, and a kernel that cannot be asked. */
TEST(guessing_can_be_off)
{
	struct walk_facts other = facts;
	struct world w;
	struct cpu_frame stub, in_module;
	uint64_t *s;

	open_world(&w);
	s = w.stack + 64;
	s[1] = base;
	s[9] = base;
	stub = (struct cpu_frame){w.pc[MADE_STUB], (uint64_t)(uintptr_t)s, 0};
	in_module = (struct cpu_frame){bare, (uint64_t)(uintptr_t)s, (uint64_t)(uintptr_t)(s + 8)};
	other.guess = false;
	walk_init(&other);
	assert_int_equal(look(&stub).root, SITES_NODE_CUT);
	assert_int_equal(look(&in_module).root, SITES_NODE_CUT);
	other = facts;
	other.can_probe = false;
	walk_init(&other);
	thread_drop_caches(my_block());
	assert_int_equal(look(&stub).root, SITES_NODE_CUT);
	assert_int_equal(look(&in_module).count, 2);
	walk_init(&facts);
	thread_drop_caches(my_block());
	assert_int_equal(look(&stub).count, 2);
	close_world(&w);
}

static int start(void **state)
{
	size_t bytes = (size_t)64 << 20;
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *find = dlsym(RTLD_DEFAULT, "_dl_find_object");

	(void)state;
	if (!find || p == MAP_FAILED || !segment_init_plain(p, bytes, bytes))
		return -1;
	tick_start(true);
	walk_init(&facts);
	thread_init(true, true);
	test_base();
	test_bare();
	return module_init(find, "test_c_guess") && rules_init() && sites_init(1) && ledger_init(1)
	    ? 0
	    : -1;
}

TEST_GROUP(start, NULL);

/* test_roots.c - which memory of a process may hold pointers, and which is an allocator's. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "analysis/leaks/owned.h"
#include "host/proc/roots.h"
#include "host/memory/threads.h"
#include "analysis/types/survey_parts.h"

static const char maps[] =
    "55550000-55552000 r-xp 00000000 08:01 11                    /opt/app\n"
    "55552000-55553000 r--p 00002000 08:01 11                    /opt/app\n"
    "55553000-55554000 rw-p 00003000 08:01 11                    /opt/app\n"
    "55554000-55575000 rw-p 00000000 00:00 0                     [heap]\n"
    "7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
    "7f0000001000-7f0000009000 rw-p 00000000 00:00 0 \n"
    "7f0000010000-7f0000011000 rw-s 00000000 00:01 7             /memfd:x (deleted)\n"
    "7f0000020000-7f0000021000 rw-s 00000000 00:05 8             /dev/dri/card0\n"
    "7f0000030000-7f0000031000 rw-s 00000000 00:0e 9             anon_inode:[io_uring]\n"
    "7f0000040000-7f0000042000 rw-p 00000000 08:01 12            /usr/lib/libc.so.6\n"
    "7f0000050000-7f0000051000 rw-s 00000000 00:18 13            /dev/shm/a b.seg (deleted)\n"
    "7f0000060000-7f0000061000 rw-p 00000000 08:01 14            /usr/lib/seep/libseep.so\n"
    "7f0000070000-7f0000091000 rw-p 00000000 00:00 0             [stack]\n"
    "7f00000a0000-7f00000a2000 r-xp 00000000 00:00 0             [vdso]\n"
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0     [vsyscall]\n";

static struct roots_areas parsed(const char *text)
{
	struct roots_areas a;
	char *copy = strdup(text);

	assert_non_null(copy);
	assert_int_equal(roots_parse(copy, &a), 0);
	free(copy);
	return a;
}

TEST(each_line_has_its_kind)
{
	static const enum roots_kind kinds[] = {ROOTS_MEMORY, ROOTS_MEMORY, ROOTS_MEMORY,
	    ROOTS_HEAP, ROOTS_MEMORY, ROOTS_MEMORY, ROOTS_SHARED, ROOTS_DEVICE, ROOTS_RING,
	    ROOTS_MEMORY, ROOTS_SHARED, ROOTS_MEMORY, ROOTS_STACK, ROOTS_KERNEL};
	struct roots_areas a = parsed(maps);

	assert_int_equal(a.count, sizeof(kinds) / sizeof(kinds[0]));
	for (size_t i = 0; i < a.count; i++)
		assert_int_equal(a.at[i].kind, kinds[i]);
	assert_true(a.at[9].is_libc);
	assert_false(a.at[4].can_read || a.at[4].can_write);
	assert_ptr_equal(roots_at(&a, 0x55554000), &a.at[3]);
	assert_ptr_equal(roots_at(&a, 0x55574fff), &a.at[3]);
	assert_null(roots_at(&a, 0x55575000));
	assert_null(roots_at(&a, UINT64_MAX));
	roots_release(&a);
}

TEST(lines_that_make_no_sense_are_left_out)
{
	struct roots_areas a = parsed("1000-3000 rw-p 00000000 00:00 0 \n"
	                              "2000-4000 rw-p 00000000 00:00 0 \n" /* overlaps */
	                              "9000-8000 rw-p 00000000 00:00 0 \n"
	                              "a001-b000 rw-p 00000000 00:00 0 \n"
	                              "nonsense\n\n-\nc000-d000\nc000-d000 rw\n"
	                              "c000-d000 rw-p 0 0:0 \n"
	                              "e000-f000 rw-p 00000000 00:00 0");

	assert_int_equal(a.count, 2);
	assert_int_equal(a.at[0].end, 0x3000);
	assert_int_equal(a.at[1].start, 0xe000);
	roots_release(&a);
}

/* Does the plan have all of [start, end), or nothing of it? */
static bool holds(const struct ranges *r, uint64_t start, uint64_t end)
{
	bool first = address_ranges_hold(r, start);

	assert_int_equal(first, address_ranges_hold(r, end - 1));
	return first;
}

TEST(ranges_are_subtracted_and_stacks_are_cut)
{
	struct roots_areas a = parsed(maps);
	struct ranges not = {0};
	struct roots_plan p = {{0}, {0}, {0}};
	const uint64_t pointers[] = {0x7f0000005008, 0x7f0000080000};

	assert_int_equal(address_ranges_add(&not, 0x55554000, 0x55575000), 0);
	assert_int_equal(address_ranges_add(&not, 0x7f0000040100, 0x7f0000040200), 0);
	address_ranges_settle(&not );
	assert_int_equal(roots_plan(&a, &not, pointers, 2, &p), 0);
	assert_true(holds(&p.certain, 0x55553000, 0x55554000));
	assert_false(holds(&p.certain, 0x55554000, 0x55575000));
	assert_true(holds(&p.certain, 0x7f0000040000, 0x7f0000040100));
	assert_false(holds(&p.certain, 0x7f0000040100, 0x7f0000040200));
	assert_true(holds(&p.certain, 0x7f0000010000, 0x7f0000011000));
	assert_false(holds(&p.certain, 0x7f0000020000, 0x7f0000021000));
	/* a name does not make a file the collector's */
	assert_true(holds(&p.certain, 0x7f0000050000, 0x7f0000051000));
	/* a guard page lies below: up to the red zone all of it is dead */
	assert_true(holds(&p.weak, 0x7f0000001000, 0x7f0000005008 - 128));
	assert_true(holds(&p.certain, 0x7f0000005008 - 128, 0x7f0000009000));
	assert_true(holds(&p.weak, 0x7f0000070000, 0x7f0000080000 - 128));
	assert_true(holds(&p.certain, 0x7f0000080000, 0x7f0000091000));
	roots_plan_release(&p);
	address_ranges_release(&not );
	roots_release(&a);
}

TEST(an_area_with_two_stacks_is_scanned_whole)
{
	struct roots_areas a = parsed(maps);
	const struct ranges not = {0};
	struct roots_plan p = {{0}, {0}, {0}};
	const uint64_t pointers[] = {0x7f0000003000, 0x7f0000005000};

	assert_int_equal(roots_plan(&a, &not, pointers, 2, &p), 0);
	assert_int_equal(p.weak.count, 0);
	assert_true(holds(&p.certain, 0x7f0000001000, 0x7f0000009000));
	roots_plan_release(&p);
	roots_release(&a);
}

/* glibc 2.36: 127 pairs of list heads, from word 14 on. */
static void make_arena(uint64_t *w, uint64_t address)
{
	for (unsigned i = 0; i < 127; i++)
		w[14 + 2 * i] = w[15 + 2 * i] = address + (14 + 2 * i) * 8 - 16;
	w[14] = w[15] = 0x55560000; /* one list is not empty */
	w[14 + 254 + 2] = address;
}

TEST(the_first_arena_is_found_in_libc)
{
	static uint64_t words[1024];
	struct range r;

	memset(words, 0, sizeof(words));
	assert_false(roots_find_arena(0x7f0000040000, words, sizeof(words), &r));
	make_arena(words + 100, 0x7f0000040000 + 800);
	assert_true(roots_find_arena(0x7f0000040000, words, sizeof(words), &r));
	assert_int_equal(r.start, 0x7f0000040000 + 800);
	assert_int_equal(r.end - r.start, 2200);
	words[100 + 20] = 5; /* no pointer of a list */
	assert_false(roots_find_arena(0x7f0000040000, words, sizeof(words), &r));
	/* cut off by the end of what was read */
	make_arena(words + 900, 0x7f0000040000 + 7200 - 0);
	assert_false(roots_find_arena(0x7f0000040000, words, 8000, &r));
}

TEST(pieces_of_jemalloc_describe_themselves)
{
	uint64_t w[512] = {0x400000, 0, 0, 0x7f0000202000, 0x3fe000};
	struct range r;
	uint64_t used;

	assert_true(jemalloc_memory_is_base(0x7f0000200000, w, &r, &used));
	assert_int_equal(r.end, 0x7f0000600000);
	assert_int_equal(used, 0x7f0000202000);
	w[4]--;
	assert_false(jemalloc_memory_is_base(0x7f0000200000, w, &r, &used));
	w[4]++;
	assert_false(jemalloc_memory_is_base(0x7f0000200000 + 4096, w, &r, &used));
	w[0] = UINT64_MAX / 0x200000 * 0x200000;
	assert_false(jemalloc_memory_is_base(0x7f0000200000, w, &r, &used));
	memset(w, 0, sizeof(w));
	assert_false(jemalloc_memory_is_base(0x7f0000200000, w, &r, &used));
	assert_false(jemalloc_memory_is_record(w, &r));
	w[0] = 0x1234;
	w[1] = 0x7f0000300040;
	w[2] = 0x5007;
	assert_true(jemalloc_memory_is_record(w, &r));
	assert_int_equal(r.start, 0x7f0000300000);
	assert_int_equal(r.end, 0x7f0000305000);
	w[2] = UINT64_MAX;
	assert_false(jemalloc_memory_is_record(w, &r));
}

TEST(stack_pointers_are_read_from_proc)
{
	uint64_t sp, words[6];
	size_t n;

	assert_true(threads_parse("34 0x1 0x2 0x3 0x4 0x5 0x6 0x7ffc10 0x400\n", &sp, words, &n));
	assert_int_equal(sp, 0x7ffc10);
	assert_int_equal(n, 6);
	assert_int_equal(words[5], 6);
	assert_true(threads_parse("-1 0x7ffc20 0x400\n", &sp, words, &n));
	assert_int_equal(sp, 0x7ffc20);
	assert_int_equal(n, 0);
	assert_false(threads_parse("running\n", &sp, words, &n));
	assert_false(threads_parse("", &sp, words, &n));
	assert_false(threads_parse("34 0x1 0x2 0x3", &sp, words, &n));
	assert_false(threads_parse("34 1 2", &sp, words, &n));
}

TEST(shared_memory_that_is_swapped_out_is_counted)
{
	static const char smaps[] = "5580-5590 rw-p 00000000 00:00 0      [heap]\n"
	                            "Size:  64 kB\nSwap:  64 kB\nSwapPss:  64 kB\n"
	                            "7f00-7f40 rw-s 00000000 00:01 77    /memfd:x: a-b (deleted)\n"
	                            "Size:  256 kB\nRss:  0 kB\nSwap:  12 kB\nSwapPss:  9 kB\n"
	                            "VmFlags: rd wr sh mr mw me ms sd - \n"
	                            "7f50-7f60 r--s 00000000 00:01 78    /dev/shm/a: 1\n"
	                            "Swap:  4 kB\n"
	                            "7f70-7f80 rw-p 00000000 00:00 0\nSwap:  100 kB";

	assert_int_equal(roots_swapped_shared(smaps), 16 << 10);
	assert_int_equal(roots_swapped_shared(""), 0);
	assert_int_equal(roots_swapped_shared("-\n - \nSwap:"), 0);
	assert_int_equal(roots_swapped_shared("1-2 rw-s\nSwap:"), 0);
}

TEST(names_of_classes_are_told_from_other_text)
{
	assert_true(vtable_is_name("St6vectorIiSaIiEE", 17));
	assert_false(vtable_is_name("", 0));
	assert_false(vtable_is_name("3F\x1bo", 4));
	assert_false(vtable_is_name("hello", 5));
}

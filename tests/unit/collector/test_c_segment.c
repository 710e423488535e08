/* test_c_segment.c - a table stays whole if a signal handler leaves its opening at any instruction. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "collector/segment/segment.h"

enum { ROW_BYTES = 64, ROWS = 4096, STEPS_MAX = 20000, BYTES = 256 << 20 };

/* A sanitizer has far more instructions, or waits for its own locks in a signal. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { STEPS_ARE_POSSIBLE = 0 };
#else
enum { STEPS_ARE_POSSIBLE = 1 };
#endif

static sigjmp_buf back;
static volatile sig_atomic_t steps, leave_at;

/* Comes after each instruction while the trap flag is set. */
static void step(int signal_number)
{
	(void)signal_number;
	if (++steps == leave_at)
		siglongjmp(back, 1);
}

static void trace(bool on)
{
	uint64_t flags;

	if (!STEPS_ARE_POSSIBLE)
		return;
	__asm__ volatile("pushfq; popq %0" : "=r"(flags)::"memory");
	flags = on ? flags | 0x100 : flags & ~UINT64_C(0x100);
	__asm__ volatile("pushq %0; popfq" ::"r"(flags) : "memory", "cc");
}

/* Opens the row, and leaves at instruction n. False: it came to its end. */
static bool open_and_leave(struct segment_table *t, uint64_t row, int n)
{
	bool volatile left = true;

	steps = 0;
	leave_at = n;
	if (sigsetjmp(back, 1) == 0) {
		trace(true);
		(void)segment_table_open(t, row);
		left = false;
	}
	trace(false);
	return left;
}

static int fresh_segment(void **state)
{
	struct sigaction act = {.sa_handler = step};
	void *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	sigemptyset(&act.sa_mask);
	return p == MAP_FAILED || !segment_init_plain(p, BYTES, BYTES) ||
	        sigaction(SIGTRAP, &act, NULL) < 0
	    ? -1
	    : 0;
}

/* The entries that readers take for this row's, and where it is by the last. */
static int entries_of(const struct segment_table *t, uint64_t row, const void **ret)
{
	const struct seg_extent *dir = (const void *)(segment.memory.head + SEG_HEADER_BYTES);
	int found = 0;

	for (uint32_t i = 0; i < segment.header->dir_used; i++) {
		const struct seg_extent *e = &dir[i];

		if (e->kind != t->kind || e->owner != t->owner || row < e->first ||
		    row >= e->first + e->count)
			continue;
		found++;
		*ret = segment.memory.extents + (e->offset - segment.layout.first) +
		    (row - e->first) * e->row_bytes;
	}
	return found;
}

TEST_WITH(a_chunk_in_use_always_has_its_entry, fresh_segment, NULL)
{
	bool left = true;
	int n;

	for (n = 1; left && n < STEPS_MAX; n++) {
		struct segment_table t = {0};
		const void *seen = NULL;
		void *row;

		assert_true(
		    segment_table_init(&t, SEG_EXT_LEDGER, (uint32_t)n, ROW_BYTES, 0, ROWS));
		left = open_and_leave(&t, 7, n);
		/* whoever comes next, for the same chunk or another one */
		if (n % 2)
			assert_non_null(segment_table_row(&t, ROWS - 1));
		row = segment_table_row(&t, 7);
		assert_non_null(row);
		assert_int_equal(entries_of(&t, 7, &seen), 1);
		assert_ptr_equal(seen, row);
		assert_ptr_equal(segment_table_row(&t, 7), row);
		if (n % 2)
			assert_int_equal(entries_of(&t, ROWS - 1, &seen), 1);
		/* its chunk pointers are used again, without what they held */
		segment_table_shape(&t, SEG_EXT_LEDGER, (uint32_t)n, ROW_BYTES, 0, ROWS);
		assert_null(segment_table_peek(&t, 7));
	}
	assert_false(left); /* every instruction had its turn */
	assert_true(n > 50 || !STEPS_ARE_POSSIBLE);
}

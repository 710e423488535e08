/* test_mapped.c - promises of session/process/live_ages.h, also for a hostile table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>
#include <sys/prctl.h>

#include "test.h"
#include "../lib/forked_copy.h"

#include "session/process/live_ages.h"
#include "format/seg_mapped.h"

enum {
	ROOT = 1 << MAPPED_ROOT_BITS,
	SLOTS = 1 << MAPPED_NODE_BITS,
	NODES = 64,
	SITES = 3,
	FIRST = 100, /* id of the first site */
};

#define PAGE ((size_t)4096)

/* A table that a child inherits, and pages that it is about. */
static struct table {
	uint64_t root[ROOT];
	uint64_t nodes[NODES][SLOTS];
} * table;
static uint8_t *area, *pages;
static struct process_site sites[SITES];
static struct process_id ids[SITES];
static struct process process;

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static int start_over(void **state)
{
	(void)state;
	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	table = map(sizeof(*table));
	/* 64 pages of which the first is that of a node */
	area = map(PAGE * SLOTS * 2);
	pages = area + (-(uintptr_t)area & (PAGE * SLOTS - 1));
	for (uint32_t i = 0; i < SITES; i++) {
		sites[i] = (struct process_site){.id = FIRST + i, .kind = SEG_SITE_MAPPING};
		ids[i] = (struct process_id){FIRST + i, i};
	}
	process =
	    (struct process){.sites = sites, .site_count = SITES, .ids = ids, .id_count = SITES};
	process.header.mapped_root = (uint64_t)(uintptr_t)table->root;
	process.header.first_id = FIRST;
	return 0;
}

static int clean_up(void **state)
{
	(void)state;
	munmap(table, sizeof(*table));
	munmap(area, PAGE * SLOTS * 2);
	mapped_pages_free(process.resident);
	return 0;
}

static int read_it(void)
{
	struct forked_copy copy = forked_copy_start(NULL);
	int err;

	process.running_pid = copy.pid;
	err = mapped_pages_read(&process);
	forked_copy_end(&copy);
	return err;
}

static uint64_t node_at(int n)
{
	return (uint64_t)(uintptr_t)table->nodes[n] | MAPPED_IS_NODE;
}

/* Enters a page, with nodes 0 to 3 above it. */
static void enter(const void *address, uint64_t leaf)
{
	uint64_t page = (uint64_t)(uintptr_t)address >> MAPPED_PAGE_BITS;

	table->root[page >> 24] = node_at(0);
	table->nodes[0][page >> 18 & (SLOTS - 1)] = node_at(1);
	table->nodes[1][page >> 12 & (SLOTS - 1)] = node_at(2);
	table->nodes[2][page >> 6 & (SLOTS - 1)] = node_at(3);
	table->nodes[3][page & (SLOTS - 1)] = leaf;
}

TEST_WITH(pages_and_ranges_are_counted_by_site, start_over, clean_up)
{
	const uint64_t one = mapped_leaf(FIRST, 5);
	const uint64_t two = mapped_leaf(FIRST + 1, 6);

	/* 0 1 | 2 | 3: ranges of two, one and one page; 5: of the second site */
	enter(pages, one | MAPPED_STARTS);
	enter(pages + PAGE, one);
	enter(pages + 2 * PAGE, one | MAPPED_STARTS);
	enter(pages + 3 * PAGE, one | MAPPED_STARTS);
	enter(pages + 5 * PAGE, two | MAPPED_STARTS);
	/* of a parent, and of a site that is not known */
	enter(pages + 6 * PAGE, mapped_leaf(FIRST - 1, 1) | MAPPED_STARTS);
	enter(pages + 7 * PAGE, mapped_leaf(FIRST + 77, 1) | MAPPED_STARTS);
	for (size_t i = 0; i < 8; i += 2)
		pages[i * PAGE] = 1;
	pages[5 * PAGE] = 1;
	assert_int_equal(read_it(), 0);
	assert_int_equal(process.resident->sites[0].ranges, 3);
	assert_int_equal(process.resident->sites[0].bytes, 4 * PAGE);
	assert_int_equal(process.resident->sites[0].resident_bytes, 2 * PAGE);
	assert_int_equal(process.resident->sites[1].ranges, 1);
	assert_int_equal(process.resident->sites[1].resident_bytes, PAGE);
	assert_int_equal(process.resident->sites[2].bytes, 0);
	assert_false(process.resident->is_partial);
}

TEST_WITH(entries_of_upper_levels_count_for_all_their_pages, start_over, clean_up)
{
	/* addresses that no process has: nothing is resident there */
	table->root[3] = mapped_leaf(FIRST + 2, 1) | MAPPED_STARTS;
	table->root[4] = mapped_leaf(FIRST + 2, 1);
	table->root[5] = mapped_leaf(FIRST + 2, 1) | MAPPED_STARTS;
	assert_int_equal(read_it(), 0);
	assert_int_equal(process.resident->sites[2].ranges, 2);
	assert_int_equal(
	    process.resident->sites[2].bytes, UINT64_C(3) << (MAPPED_TOP_SHIFT + MAPPED_PAGE_BITS));
	assert_int_equal(process.resident->sites[2].resident_bytes, 0);
}

TEST_WITH(a_table_that_leads_nowhere_is_partial, start_over, clean_up)
{
	table->root[0] = 0x1000 | MAPPED_IS_NODE;  /* not mapped */
	table->root[1] = 0x12345 | MAPPED_IS_NODE; /* not at a node */
	table->root[2] = ~UINT64_C(0);             /* nowhere at all */
	table->root[3] = UINT64_C(0x1fffffffffe00) | MAPPED_IS_NODE;
	assert_int_equal(read_it(), 0);
	assert_true(process.resident->is_partial);
	assert_int_equal(process.resident->sites[0].bytes, 0);
}

/* Each of its entries leads to itself: 64 times as many on each level. */
TEST_WITH(a_table_that_leads_back_ends, start_over, clean_up)
{
	for (int i = 0; i < ROOT; i++)
		table->root[i] = node_at(7);
	for (int i = 0; i < SLOTS; i++)
		table->nodes[7][i] = node_at(7);
	assert_int_equal(read_it(), 0);
	assert_true(process.resident->is_partial);
}

TEST_WITH(without_a_table_or_a_process_there_is_no_answer, start_over, clean_up)
{
	process.header.mapped_root = 0;
	assert_int_equal(read_it(), -ENODATA);
	process.header.mapped_root = (uint64_t)(uintptr_t)table->root + 8;
	assert_int_equal(read_it(), -EBADMSG);
	process.running_pid = 0;
	assert_int_equal(mapped_pages_read(&process), -ESRCH);
	assert_null(process.resident);
}

/* test_our_ranges.c - promises of segments/blocks/our_ranges.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "../lib/forked_copy.h"

#include "segments/blocks/our_ranges.h"
#include "format/seg_own_memory.h"

enum { PAGE = 4096, ROOM = 16 };

/* A table that a child inherits, not at the beginning of a page. */
static struct own_memory_entry *table;
static struct seg_header header;

static void *map(int flags, int fd, size_t pages)
{
	void *p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static int start_over(void **state)
{
	char *p = map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 2);

	(void)state;
	table = (void *)(p + PAGE - 64);
	header =
	    (struct seg_header){.ours_table = (uint64_t)(uintptr_t)table, .ours_entries = ROOM};
	return 0;
}

static void put(size_t i, uint64_t start, uint64_t end, enum own_memory_kind kind)
{
	table[i] =
	    (struct own_memory_entry){.start = start, .end = end, .kind = kind, .sequence = 2};
}

struct seen {
	uint64_t starts[ROOM], ends[ROOM];
	size_t count;
};

static int note(uint64_t start, uint64_t end, void *arg)
{
	struct seen *s = arg;

	if (s->count == ROOM)
		return -ENOMEM;
	s->starts[s->count] = start;
	s->ends[s->count++] = end;
	return 0;
}

static int read_ranges(struct seen *seen, struct our_ranges *r)
{
	struct forked_copy copy = forked_copy_start(NULL);
	int err;

	*seen = (struct seen){.count = 0};
	*r = (struct our_ranges){.add = note, .arg = seen};
	err = our_ranges_read(r, copy.pid, &header);
	forked_copy_end(&copy);
	return err;
}

TEST_WITH(entries_in_use_are_told, start_over, NULL)
{
	struct our_ranges r;
	struct seen seen;

	put(0, 0x1000, 0x3000, OWN_MEMORY_FOREVER);
	put(1, 0x7000, 0x9000, OWN_MEMORY_NONE);
	put(ROOM - 1, 0x5000, 0x6000, OWN_MEMORY_FOR_NOW);
	assert_int_equal(read_ranges(&seen, &r), 0);
	assert_false(r.is_partial);
	assert_int_equal(seen.count, 2);
	assert_int_equal(seen.starts[0], 0x1000);
	assert_int_equal(seen.ends[0], 0x3000);
	assert_int_equal(seen.starts[1], 0x5000);
}

TEST_WITH(an_entry_that_is_being_changed_is_not_believed, start_over, NULL)
{
	struct our_ranges r;
	struct seen seen;

	put(3, 0x1000, 0x3000, OWN_MEMORY_FOREVER);
	table[3].sequence = 7;
	assert_int_equal(read_ranges(&seen, &r), 0);
	assert_int_equal(seen.count, 0);
}

TEST_WITH(what_cannot_be_is_left_out, start_over, NULL)
{
	struct our_ranges r;
	struct seen seen;

	put(0, 0x3000, 0x1000, OWN_MEMORY_FOREVER);
	put(1, 0x1001, 0x3000, OWN_MEMORY_FOREVER);
	put(2, 0x1000, UINT64_C(1) << 48, OWN_MEMORY_FOREVER);
	put(3, 0x1000, 0x2000, (enum own_memory_kind)77);
	put(4, 0x4000, 0x5000, OWN_MEMORY_FOREVER);
	assert_int_equal(read_ranges(&seen, &r), 0);
	assert_int_equal(seen.count, 1);
	assert_true(r.is_partial);
}

TEST_WITH(losses_of_the_collector_are_told, start_over, NULL)
{
	struct our_ranges r;
	struct seen seen;

	header.counts[SEG_LOST_RANGES] = 1;
	assert_int_equal(read_ranges(&seen, &r), 0);
	assert_true(r.is_partial);
}

TEST_WITH(older_and_other_collectors_are_refused, start_over, NULL)
{
	struct our_ranges r;
	struct seen seen;

	header.ours_table = 0;
	assert_int_equal(read_ranges(&seen, &r), -ENOTSUP);
	header.ours_table = (uint64_t)(uintptr_t)table;
	header.ours_entries = OWN_MEMORY_MAX + 1;
	assert_int_equal(read_ranges(&seen, &r), -ENOTSUP);
}

TEST_WITH(a_table_that_is_not_there_is_harmless, start_over, NULL)
{
	struct our_ranges r;
	struct seen seen;

	header.ours_table = UINT64_C(0xfffffffffffff000);
	(void)read_ranges(&seen, &r);
	assert_int_equal(seen.count, 0);
	header.ours_table = (uint64_t)(uintptr_t)note; /* code, of a file */
	(void)read_ranges(&seen, &r);
	assert_int_equal(seen.count, 0);
}

TEST_WITH(all_mappings_of_its_files_are_told, start_over, NULL)
{
	int own = memfd_create("own", MFD_CLOEXEC);
	int control = memfd_create("control", MFD_CLOEXEC);
	int other = memfd_create("other", MFD_CLOEXEC);
	struct our_ranges r;
	struct seen seen;
	char *a, *b, *c;

	assert_true(own >= 0 && control >= 0 && other >= 0);
	assert_int_equal(ftruncate(own, 4 * PAGE), 0);
	assert_int_equal(ftruncate(control, PAGE), 0);
	assert_int_equal(ftruncate(other, PAGE), 0);
	a = map(MAP_SHARED, own, 2);
	b = map(MAP_SHARED, other, 1);
	c = map(MAP_SHARED, own, 1);
	header.own_address = (uint64_t)(uintptr_t)(a + PAGE + 8);
	header.control_address = (uint64_t)(uintptr_t)map(MAP_SHARED, control, 1);
	assert_int_equal(read_ranges(&seen, &r), 0);
	assert_int_equal(seen.count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(seen.ends[i] <= (uint64_t)(uintptr_t)b ||
		    seen.starts[i] > (uint64_t)(uintptr_t)b);
	/* a private mapping of a file is the process's own, whatever it says */
	header.control_address = 0;
	header.own_address = (uint64_t)(uintptr_t)map(MAP_PRIVATE, other, 1);
	assert_int_equal(read_ranges(&seen, &r), 0);
	assert_int_equal(seen.count, 0);
	munmap(a, 2 * PAGE);
	munmap(c, PAGE);
	close(own);
	close(control);
	close(other);
}

/* test_c_sites.c - stacks become nodes, runs and sites, and are found again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "base/attr.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/segment/tick.h"

enum { FRAMES = 40, SEGMENT = 64 << 20, FIRST = 1 };

static int start(void **state)
{
	static uint8_t *at;

	(void)state;
	if (!at)
		at = mmap(NULL, SEGMENT, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED || madvise(at, SEGMENT, MADV_DONTNEED) != 0)
		return -1;
	tick_start(true);
	return segment_init_plain(at, SEGMENT, SEGMENT) && sites_init(FIRST) ? 0 : -1;
}

/* The frames of stack number `way`: they differ from the outer end inwards. */
static void list(uint64_t *frames, uint32_t count, uint64_t way)
{
	for (uint32_t i = 0; i < count; i++)
		frames[i] = UINT64_C(1) << 48 | (0x1000 + i);
	frames[count - 2] += way << 12;
}

/* Interns it; how many nodes were passed. */
static uint32_t intern(const uint64_t *frames, uint32_t count, bool makes_runs, uint32_t *ret)
{
	struct sites_way w = {
	    .frames = frames, .left = count, .node = SITES_NODE_ROOT, .makes_runs = makes_runs};
	uint32_t steps = 0;

	for (; w.left; steps++)
		assert_true(sites_next(&w) > 0);
	*ret = w.node;
	return steps;
}

static void assert_frames(uint32_t node, const uint64_t *frames, uint32_t count)
{
	uint64_t found[FRAMES + 1];
	struct site_id s = sites_get(node, sites_inner(NULL, 0), SEG_API_MALLOC);

	assert_true(s.v > FIRST);
	assert_int_equal(sites_frames(s, found, FRAMES + 1), count);
	assert_memory_equal(found, frames, count * sizeof(*frames));
	assert_int_equal(sites_root(s), SITES_NODE_ROOT);
}

TEST_WITH(runs_hold_the_frames_of_every_length, start, NULL)
{
	uint64_t frames[FRAMES];

	assert_int_equal(segment.header->version, SEG_VERSION);
	for (uint32_t n = 2; n <= FRAMES; n++) {
		uint32_t node, again;

		list(frames, n, n);
		intern(frames, n, true, &node);
		assert_frames(node, frames, n);
		(void)intern(frames, n, false, &again);
		assert_int_equal(again, node);
	}
	assert_true(sites_have_runs());
	assert_int_equal(segment.header->version, SEG_VERSION_RUNS);
}

TEST_WITH(without_many_new_frames_there_are_no_runs, start, NULL)
{
	uint64_t frames[FRAMES];
	uint32_t node, other;

	list(frames, 20, 1);
	assert_int_equal(intern(frames, 20, false, &node), 20);
	/* three frames that are new, below a node that is there */
	frames[0]++;
	frames[1]++;
	frames[2]++;
	assert_int_equal(intern(frames, 20, true, &other), 20);
	assert_frames(other, frames, 20);
	assert_false(sites_have_runs());
	assert_int_equal(segment.header->version, SEG_VERSION);
}

TEST_WITH(stacks_that_share_frames_share_records, start, NULL)
{
	uint64_t frames[FRAMES];
	uint32_t before, node;

	list(frames, 20, 0);
	intern(frames, 20, true, &before);
	for (uint64_t way = 1; way <= 1000; way++) {
		list(frames, 20, way);
		intern(frames, 20, true, &node);
		/* a node for the frame that differs, three runs for the rest */
		assert_int_equal(node - before, 4);
		before = node;
	}
	assert_frames(node, frames, 20);
}

TEST_WITH(a_stack_is_found_by_all_its_frames, start, NULL)
{
	uint64_t frames[FRAMES];
	uint32_t inner = sites_inner(NULL, 0), node;
	struct sites_stack key = {.hash = 77, .frames = frames, .count = 20, .inner = inner};
	struct site_id s;

	list(frames, 20, 3);
	intern(frames, 20, true, &node);
	s = sites_get(node, inner, SEG_API_MALLOC);
	sites_know(77, inner, s);
	assert_int_equal(sites_known(&key).v, s.v);
	assert_false(key.is_like);
	/* every frame counts, and so does their number */
	for (uint32_t i = 0; i < 20; i++) {
		frames[i] ^= 1;
		key.is_like = false;
		assert_int_equal(sites_known(&key).v, 0);
		assert_true(key.is_like);
		frames[i] ^= 1;
	}
	for (key.count = 0; key.count < 20; key.count++)
		assert_int_equal(sites_known(&key).v, 0);
	assert_int_equal(sites_known(&key).v, s.v);
	key.inner++;
	assert_int_equal(sites_known(&key).v, 0);
}

TEST_WITH(an_entered_stack_is_found_by_its_node_alone, start, NULL)
{
	uint64_t frames[FRAMES];
	uint32_t inner = sites_inner(NULL, 0), node, other;
	struct sites_stack key = {.hash = 78, .inner = inner};
	struct site_id s;

	list(frames, 5, 4);
	intern(frames, 5, false, &node);
	intern(frames + 1, 4, false, &other);
	assert_int_not_equal(node, other);
	s = sites_enter(78, node, inner, SEG_API_MALLOC);
	key.base = node;
	assert_int_equal(sites_known(&key).v, s.v);
	assert_false(key.is_like);
	key.base = other;
	assert_int_equal(sites_known(&key).v, 0);
	assert_true(key.is_like);
	/* and by its frames */
	key.base = SITES_NODE_ROOT;
	key.frames = frames;
	key.count = 5;
	assert_int_equal(sites_known(&key).v, s.v);
}

/* What another process has written there opens nothing (I20). */
TEST_WITH(numbers_in_the_segment_are_not_trusted, start, NULL)
{
	static const uint64_t odd[] = {
	    0, 1, 5000, 1 << 22, UINT32_MAX, UINT64_MAX, UINT64_C(1) << 32 | 1};
	uint64_t frames[FRAMES], found[FRAMES];
	uint32_t inner = sites_inner(NULL, 0), node;
	struct sites_stack key = {.hash = 77, .frames = frames, .count = 20, .inner = inner};
	struct seg_inner *run;
	struct seg_node *row;
	struct site_id s;

	list(frames, 20, 3);
	intern(frames, 20, true, &node);
	s = sites_get(node, inner, SEG_API_MALLOC);
	sites_know(77, inner, s);
	row = segment_table_row(&sites_tables[0], node);
	assert_int_equal(row->flags, SEG_NODE_RUN);
	run = segment_table_row(&sites_tables[1], row->frame);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		const struct seg_node node_before = *row;
		const struct seg_inner run_before = *run;

		row->frame = odd[i];
		(void)sites_known(&key);
		(void)sites_frames(s, found, FRAMES);
		*row = node_before;
		row->parent = (uint32_t)odd[i];
		(void)sites_known(&key);
		*row = node_before;
		row->flags = (uint32_t)odd[i] | SEG_NODE_CUT;
		(void)sites_known(&key);
		*row = node_before;
		run->count = (uint32_t)odd[i];
		assert_int_equal(sites_known(&key).v, 0);
		(void)sites_frames(s, found, FRAMES);
		*run = run_before;
	}
	assert_int_equal(sites_known(&key).v, s.v);
}

TEST_WITH(a_forked_child_starts_without_runs, start, NULL)
{
	uint64_t frames[FRAMES];
	uint32_t node;

	list(frames, 20, 3);
	intern(frames, 20, true, &node);
	assert_true(sites_have_runs());
	assert_int_equal(start(state), 0);
	assert_false(sites_have_runs());
	assert_int_equal(intern(frames, 20, false, &node), 20);
	assert_frames(node, frames, 20);
}

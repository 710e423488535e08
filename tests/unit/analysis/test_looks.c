/* test_looks.c - several looks at a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "analysis/leaks/look.h"

enum { BASE = 0x10000000, STEP = 64, FIRST = 100 };

/* Block i: at BASE + STEP * i. How it is held in a look. */
struct seen {
	uint32_t i, site, birth;
	char how; /* 'h'eld, 'l'ost, 'w'eak, '.': freed */
};

static void look(struct looks *l, const struct seen *s, size_t count)
{
	struct heap_block blocks[16] = {{0}};
	struct heap *h;
	uint64_t zero[16 * STEP / 8] = {0};
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		if (s[i].how != '.')
			blocks[n++] = (struct heap_block){
			    BASE + (uint64_t)s[i].i * STEP, 48, s[i].site, s[i].birth};
	assert_int_equal(heap_new(blocks, n, 1 << 20, &h), 0);
	for (i = 0; i < count; i++) {
		uint64_t at = BASE + (uint64_t)s[i].i * STEP;

		if (s[i].how == 'h')
			assert_int_equal(heap_root(h, at), 0);
		at += 48; /* right behind */
		if (s[i].how == 'w')
			assert_int_equal(heap_scan(h, HEAP_ROOT, 0x1000, &at, 8), 0);
	}
	assert_int_equal(heap_scan(h, HEAP_BLOCKS, BASE, zero, sizeof(zero)), 0);
	assert_int_equal(heap_judge(h), 0);
	assert_int_equal(looks_add(l, h), 0);
	heap_free(h);
}

static struct looks *begin(void)
{
	struct looks *l;

	assert_int_equal(looks_new(FIRST, &l), 0);
	return l;
}

/* The site's figures, all zero if it has none. */
static struct looks_site of(const struct looks *l, uint32_t site)
{
	struct looks_site *list, ret = {0};
	size_t n, i;

	assert_int_equal(looks_sites(l, &list, &n), 0);
	for (i = 0; i < n; i++)
		if (list[i].site == site)
			ret = list[i];
	free(list);
	return ret;
}

TEST(what_is_lost_in_every_look_is_a_leak)
{
	const struct seen s[] = {{0, 1, 5, 'l'}, {1, 1, 9, 'l'}, {2, 2, 7, 'h'}, {3, 3, 8, 'w'}};
	struct looks *l = begin();
	struct looks_site x;
	int i;

	for (i = 0; i < 3; i++) {
		assert_false(looks_are_enough(l));
		look(l, s, 4);
	}
	assert_true(looks_are_enough(l));
	x = of(l, 1);
	assert_int_equal(x.blocks, 2);
	assert_int_equal(x.bytes, 96);
	assert_int_equal(x.direct, 2);
	assert_int_equal(x.first_birth, 5);
	assert_int_equal(x.last_birth, 9);
	assert_false(x.moves || x.hides);
	assert_int_equal(of(l, 2).blocks, 0);
	assert_int_equal(of(l, 3).blocks, 0);
	assert_int_equal(of(l, 3).possible_blocks, 1);
	looks_free(l);
}

TEST(a_block_that_is_held_again_was_moved)
{
	struct seen s[] = {{0, 1, 5, 'l'}, {1, 1, 5, 'l'}, {2, 2, 5, 'l'}};
	struct looks *l = begin();

	look(l, s, 3);
	s[0].how = 'h';
	look(l, s, 3);
	s[0].how = 'l'; /* once held, never again a candidate */
	look(l, s, 3);
	assert_false(looks_are_enough(l));
	look(l, s, 3);
	assert_true(looks_are_enough(l));
	assert_int_equal(of(l, 1).blocks, 1);
	assert_true(of(l, 1).moves);
	assert_false(of(l, 2).moves);
	assert_int_equal(of(l, 2).blocks, 1);
	looks_free(l);
}

TEST(a_block_that_is_freed_late_was_hidden)
{
	struct seen s[] = {{0, 1, 5, 'l'}, {1, 1, 5, 'l'}, {2, 2, 5, 'l'}, {3, 2, 5, 'l'}};
	struct looks *l = begin();

	look(l, s, 4);
	s[3].how = '.'; /* seen lost once: it may have been on its way */
	look(l, s, 4);
	s[0].how = '.';
	look(l, s, 4);
	assert_true(looks_are_enough(l)); /* a free is no reason to go on */
	assert_true(of(l, 1).hides);
	assert_int_equal(of(l, 1).blocks, 1);
	assert_false(of(l, 2).hides);
	assert_int_equal(of(l, 2).blocks, 1);
	looks_free(l);
}

TEST(another_block_at_the_same_address_is_no_candidate)
{
	struct seen s[] = {{0, 1, 5, 'l'}, {1, 1, 5, 'l'}, {2, 1, 5, 'l'}};
	struct heap_block same = {BASE + 2 * STEP, 48, 1, 5};
	struct looks *l = begin();

	look(l, s, 3);
	s[0].birth = 50;
	s[1].site = 2;
	look(l, s, 3);
	look(l, s, 3);
	assert_int_equal(of(l, 1).blocks, 1);
	assert_int_equal(of(l, 2).blocks, 0);
	assert_true(looks_is_lost(l, &same));
	same.birth = 6;
	assert_false(looks_is_lost(l, &same));
	looks_free(l);
}

TEST(what_was_born_while_we_look_is_too_young)
{
	const struct seen s[] = {
	    {0, 1, FIRST, 'l'}, {1, 1, FIRST - 1, 'l'}, {2, 3, FIRST + 1, 'w'}};
	struct looks *l = begin();

	look(l, s, 3);
	look(l, s, 3);
	look(l, s, 3);
	assert_int_equal(of(l, 1).blocks, 1);
	assert_int_equal(of(l, 3).possible_blocks, 0);
	looks_free(l);
}

/* What a function left behind below the stack pointer goes away again. */
TEST(a_weak_pointer_is_forgotten_after_three_looks)
{
	struct seen s[] = {{0, 1, 5, 'w'}, {1, 1, 5, 'l'}};
	struct looks *l = begin();

	look(l, s, 2);
	s[0].how = 'l';
	look(l, s, 2);
	look(l, s, 2);
	assert_int_equal(of(l, 1).blocks, 1);
	assert_int_equal(of(l, 1).possible_blocks, 1);
	assert_int_equal(of(l, 1).weak, 1 << HEAP_PAST_END);
	look(l, s, 2);
	assert_int_equal(of(l, 1).blocks, 2);
	assert_int_equal(of(l, 1).possible_blocks, 0);
	assert_false(of(l, 1).moves);
	/* a weak pointer that comes is no certain one: the place does not move */
	s[1].how = 'w';
	look(l, s, 2);
	assert_false(of(l, 1).moves);
	assert_false(looks_are_enough(l));
	looks_free(l);
}

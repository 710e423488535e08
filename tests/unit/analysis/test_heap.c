/* test_heap.c - blocks of a heap and who points to whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "analysis/leaks/heap.h"

enum { BASE = 0x10000000, LIMIT = 64 << 20 };

/* A small heap: blocks of `size` bytes, `step` apart, all zero. */
struct fake {
	struct heap_block blocks[64];
	size_t count;
	uint64_t words[4096];
};

static void fake_of(struct fake *h, size_t count, uint64_t size, uint64_t step)
{
	memset(h, 0, sizeof(*h));
	for (h->count = 0; h->count < count; h->count++)
		h->blocks[h->count] = (struct heap_block){.address = BASE + h->count * step,
		    .size = size,
		    .birth = 1,
		    .site = (uint32_t)h->count};
}

static void point(struct fake *h, size_t from, size_t word, uint64_t to)
{
	h->words[(h->blocks[from].address - BASE) / 8 + word] = to;
}

/* The graph, with roots to these words; in pieces of `piece` bytes. */
static struct heap *judged(const struct fake *h, const uint64_t *roots, size_t count, size_t piece)
{
	struct heap *g;
	size_t at;

	assert_int_equal(heap_new(h->blocks, h->count, LIMIT, &g), 0);
	assert_int_equal(heap_scan(g, HEAP_ROOT, 0x2000, roots, 8 * count), 0);
	for (at = 0; at < sizeof(h->words); at += piece)
		assert_int_equal(
		    heap_scan(g, HEAP_BLOCKS, BASE + at, (const char *)h->words + at, piece), 0);
	assert_int_equal(heap_judge(g), 0);
	return g;
}

TEST(what_nothing_points_to_is_lost)
{
	struct fake h;
	uint64_t roots[] = {BASE, BASE + 128 + 17};
	struct heap *g;

	fake_of(&h, 6, 48, 64);
	point(&h, 0, 3, BASE + 64);
	point(&h, 3, 0, BASE + 256); /* lost, holds the next */
	g = judged(&h, roots, 2, 4096);
	assert_int_equal(heap_reach(g, 0), HEAP_HELD);
	assert_int_equal(heap_reach(g, 1), HEAP_HELD);
	assert_int_equal(heap_reach(g, 2), HEAP_HELD); /* interior */
	assert_int_equal(heap_reach(g, 3), HEAP_LOST);
	assert_int_equal(heap_role(g, 3), HEAP_DIRECT);
	assert_int_equal(heap_reach(g, 4), HEAP_LOST);
	assert_int_equal(heap_role(g, 4), HEAP_INDIRECT);
	assert_int_equal(heap_role(g, 5), HEAP_DIRECT);
	assert_int_equal(heap_role(g, 0), HEAP_NONE);
	heap_free(g);
}

/* Instructions of 11 bytes, each with a pointer behind its first two. */
TEST(pointers_in_instructions_begin_at_any_byte)
{
	unsigned char code[8 * 11 + 8] = {0};
	struct heap *g;
	struct fake h;

	fake_of(&h, 9, 48, 64);
	for (size_t i = 0; i < 8; i++) {
		const uint64_t at = h.blocks[i].address;

		memcpy(code + i * 11 + 2, &at, sizeof(at));
	}
	assert_int_equal(heap_new(h.blocks, h.count, LIMIT, &g), 0);
	assert_int_equal(heap_scan(g, HEAP_CODE, 0x2000, code, sizeof(code)), 0);
	assert_int_equal(heap_judge(g), 0);
	for (size_t i = 0; i < 8; i++) {
		bool aligned = (i * 11 + 2) % 8 == 0;

		assert_int_equal(heap_reach(g, i), aligned ? HEAP_HELD : HEAP_POSSIBLE);
		if (!aligned)
			assert_int_equal(heap_weak(g, i), HEAP_MISALIGNED);
	}
	assert_int_equal(heap_reach(g, 8), HEAP_LOST);
	heap_free(g);
}

TEST(cycles_are_heads_unless_something_lost_holds_them)
{
	struct fake h;
	struct heap *g;

	fake_of(&h, 8, 48, 64);
	/* 0 <-> 1, of which 2 hangs; 3 -> (4 <-> 5); 6 points to itself */
	point(&h, 0, 0, BASE + 64);
	point(&h, 1, 0, BASE);
	point(&h, 1, 1, BASE + 128);
	point(&h, 3, 0, BASE + 256);
	point(&h, 4, 0, BASE + 320);
	point(&h, 5, 0, BASE + 256);
	point(&h, 6, 2, BASE + 384);
	g = judged(&h, NULL, 0, 4096);
	assert_int_equal(heap_role(g, 0), HEAP_CYCLE);
	assert_int_equal(heap_role(g, 1), HEAP_CYCLE);
	assert_int_equal(heap_role(g, 2), HEAP_INDIRECT);
	assert_int_equal(heap_role(g, 3), HEAP_DIRECT);
	assert_int_equal(heap_role(g, 4), HEAP_INDIRECT);
	assert_int_equal(heap_role(g, 5), HEAP_INDIRECT);
	assert_int_equal(heap_role(g, 6), HEAP_DIRECT);
	assert_int_equal(heap_role(g, 7), HEAP_DIRECT);
	heap_free(g);
}

TEST(weak_pointers_make_it_possible_not_held)
{
	struct fake h;
	uint64_t roots[] = {
	    BASE + 48,                        /* right behind block 0 */
	    (BASE + UINT64_C(64)) << 32, 0,   /* block 1, at a multiple of 4 */
	    (BASE + 128) | UINT64_C(7) << 56, /* block 2, with a tag */
	};
	uint64_t below[] = {BASE + 192};
	struct heap *g;

	fake_of(&h, 6, 48, 64);
	point(&h, 0, 0, BASE + 256); /* what is possible holds: possible, too */
	point(&h, 2, 0, BASE + 320 + 48);
	assert_int_equal(heap_new(h.blocks, h.count, LIMIT, &g), 0);
	assert_int_equal(heap_scan(g, HEAP_ROOT, 0x2000, roots, 32), 0);
	assert_int_equal(heap_scan(g, HEAP_WEAK_ROOT, 0x3000, below, 8), 0);
	assert_int_equal(heap_scan(g, HEAP_BLOCKS, BASE, h.words, sizeof(h.words)), 0);
	assert_int_equal(heap_judge(g), 0);
	assert_int_equal(heap_reach(g, 0), HEAP_POSSIBLE);
	assert_int_equal(heap_reach(g, 1), HEAP_POSSIBLE);
	assert_int_equal(heap_reach(g, 2), HEAP_HELD);
	assert_int_equal(heap_reach(g, 3), HEAP_POSSIBLE);
	assert_int_equal(heap_reach(g, 4), HEAP_POSSIBLE);
	assert_int_equal(heap_reach(g, 5), HEAP_POSSIBLE);
	assert_int_equal(heap_weak(g, 0), HEAP_PAST_END);
	assert_int_equal(heap_weak(g, 1), HEAP_MISALIGNED);
	assert_int_equal(heap_weak(g, 2), HEAP_CERTAIN);
	assert_int_equal(heap_weak(g, 3), HEAP_BELOW_SP);
	assert_int_equal(heap_weak(g, 4), HEAP_PAST_END);
	heap_free(g);
}

/* Blocks without a gap: an address may be the end of one and another's start. */
TEST(a_seam_is_the_next_blocks)
{
	struct fake h;
	uint64_t roots[] = {BASE + 64};
	struct heap *g;

	fake_of(&h, 3, 64, 64);
	g = judged(&h, roots, 1, 4096);
	assert_int_equal(heap_reach(g, 0), HEAP_LOST);
	assert_int_equal(heap_reach(g, 1), HEAP_HELD);
	assert_int_equal(heap_reach(g, 2), HEAP_LOST);
	heap_free(g);
}

/* All blocks of a site have pointers past their ends, and no others. */
TEST(a_seam_is_the_end_for_sites_that_keep_ends)
{
	struct fake h;
	uint64_t roots[] = {BASE + 64, BASE + 128, BASE + 192, BASE + 320};
	struct heap *g;

	fake_of(&h, 5, 64, 64);
	h.blocks[0].site = h.blocks[1].site = h.blocks[2].site = 9;
	h.blocks[4].address += 64; /* block 3 has no neighbour */
	h.blocks[3].site = 7;
	point(&h, 0, 0, BASE + 320);
	g = judged(&h, roots, 4, 4096);
	assert_int_equal(heap_reach(g, 0), HEAP_LOST);
	heap_free(g);
	/* the last one's pointer is at no seam, and says what the others are */
	h.blocks[3].site = 9;
	roots[3] = BASE + 256;
	g = judged(&h, roots + 1, 3, 4096);
	assert_int_equal(heap_reach(g, 3), HEAP_HELD);
	assert_int_equal(heap_reach(g, 2), HEAP_HELD);
	assert_int_equal(heap_reach(g, 1), HEAP_LOST);
	heap_free(g);
	roots[2] = 0;
	g = judged(&h, roots, 4, 4096);
	assert_int_equal(heap_reach(g, 3), HEAP_POSSIBLE);
	assert_int_equal(heap_weak(g, 3), HEAP_PAST_END);
	assert_int_equal(heap_reach(g, 0), HEAP_POSSIBLE);
	assert_int_equal(heap_weak(g, 0), HEAP_PAST_END);
	heap_free(g);
}

/* Beside one of many lost blocks was one that is gone, or that is not known. */
TEST(a_pointer_to_one_end_says_nothing_of_a_site_that_loses_blocks)
{
	struct fake h;
	uint64_t roots[] = {BASE + 64, BASE + 256};
	struct heap *g;

	fake_of(&h, 8, 64, 128);
	h.blocks[1].address = BASE + 64; /* right behind the first */
	for (size_t i = 0; i < 8; i++)
		h.blocks[i].site = i == 1 ? 7 : 9;
	h.blocks[2].address = BASE + 192; /* the second root is its end */
	g = judged(&h, roots, 2, 4096);
	assert_int_equal(heap_reach(g, 1), HEAP_HELD);
	assert_int_equal(heap_reach(g, 2), HEAP_POSSIBLE);
	assert_int_equal(heap_reach(g, 0), HEAP_LOST);
	heap_free(g);
}

TEST(the_end_of_a_block_may_be_a_new_block)
{
	const uint64_t roots[] = {BASE + 48};
	struct heap *g;
	struct fake h;

	fake_of(&h, 2, 48, 64);
	assert_int_equal(heap_new(h.blocks, h.count, LIMIT, &g), 0);
	assert_int_equal(heap_scan(g, HEAP_ROOT, 0x2000, roots, 8), 0);
	assert_int_equal(heap_note_other(g, BASE + 64 + 47), 0); /* inside */
	assert_int_equal(heap_note_other(g, BASE + 48), 0);
	assert_int_equal(heap_judge(g), 0);
	assert_int_equal(heap_reach(g, 0), HEAP_LOST);
	assert_int_equal(heap_role(g, 0), HEAP_DIRECT);
	heap_free(g);
}

TEST(a_block_of_no_bytes_is_held_by_its_address)
{
	struct fake h;
	uint64_t roots[] = {BASE};
	struct heap *g;

	fake_of(&h, 2, 0, 64);
	g = judged(&h, roots, 1, 4096);
	assert_int_equal(heap_reach(g, 0), HEAP_HELD);
	assert_int_equal(heap_reach(g, 1), HEAP_LOST);
	heap_free(g);
}

TEST(overlaps_and_nonsense_are_left_out)
{
	static const struct heap_block blocks[] = {
	    {BASE, 100, 1, 5},
	    {BASE + 50, 100, 2, 9}, /* younger: the first has been freed */
	    {BASE + 60, 10, 3, 3},  /* older than the one it lies in */
	    {BASE + 400, UINT64_MAX, 4, 1},
	    {UINT64_C(1) << 60, 10, 5, 1},
	    {0, 10, 6, 1},
	    {BASE + 300, 10, 7, 1},
	    {BASE + 300, 10, 8, 1},
	};
	struct heap *g;

	assert_int_equal(heap_new(blocks, 8, LIMIT, &g), 0);
	assert_int_equal(heap_count(g), 2);
	assert_int_equal(heap_refused(g), 6);
	assert_int_equal(heap_blocks(g)[0].site, 2);
	assert_int_equal(heap_find(g, BASE + 49), -1);
	assert_int_equal(heap_find(g, BASE + 50), 0);
	assert_int_equal(heap_find(g, BASE + 149), 0);
	assert_int_equal(heap_find(g, BASE + 150), -1);
	heap_free(g);
}

TEST(blocks_come_in_any_order)
{
	struct heap_block blocks[100];
	struct heap *g;
	size_t i;

	for (i = 0; i < 100; i++)
		blocks[i] =
		    (struct heap_block){.address = BASE + (i < 70 ? i * 64 : (99 - i) * 64 + 16),
		        .size = 8,
		        .birth = 1};
	assert_int_equal(heap_new(blocks, 100, LIMIT, &g), 0);
	assert_int_equal(heap_count(g), 100);
	for (i = 1; i < 100; i++)
		assert_true(heap_blocks(g)[i - 1].address < heap_blocks(g)[i].address);
	heap_free(g);
}

TEST(no_blocks_at_all)
{
	uint64_t words[] = {0, 1, UINT64_MAX, UINT64_C(1) << 47};
	struct heap *g;

	assert_int_equal(heap_new(NULL, 0, LIMIT, &g), 0);
	assert_int_equal(heap_scan(g, HEAP_ROOT, 0, words, 32), 0);
	assert_int_equal(heap_scan(g, HEAP_BLOCKS, 4096, words, 32), 0);
	assert_int_equal(heap_root(g, UINT64_MAX), 0);
	assert_int_equal(heap_judge(g), 0);
	assert_int_equal(heap_find(g, 0), -1);
	heap_free(g);
}

/* Blocks of terabytes cost little, and are found from end to end. */
TEST(a_very_large_block_is_found_everywhere)
{
	const uint64_t large = UINT64_C(1) << 40;
	const struct heap_block blocks[] = {
	    {BASE, 64, 1, 1}, {BASE + 128, large, 2, 1}, {BASE + 128 + large + 16, 64, 3, 1}};
	struct heap *g;

	assert_int_equal(heap_new(blocks, 3, LIMIT, &g), 0);
	assert_int_equal(heap_find(g, BASE + 63), 0);
	assert_int_equal(heap_find(g, BASE + 64), -1);
	assert_int_equal(heap_find(g, BASE + 128), 1);
	for (uint64_t at = 0; at < large; at += (large >> 12) - 8)
		assert_int_equal(heap_find(g, BASE + 128 + at), 1);
	assert_int_equal(heap_find(g, BASE + 127 + large), 1);
	assert_int_equal(heap_find(g, BASE + 128 + large), -1);
	assert_int_equal(heap_find(g, BASE + 128 + large + 16), 2);
	heap_free(g);
}

TEST(its_memory_has_a_bound)
{
	struct fake h;
	struct heap *g;
	size_t i;
	int err = 0;

	fake_of(&h, 2, 48, 64);
	assert_int_equal(heap_new(h.blocks, 2, 100, &g), -E2BIG);
	assert_int_equal(heap_new(h.blocks, 2, 64 << 10, &g), 0);
	for (i = 0; i < 100000 && err == 0; i++)
		err = heap_root(g, BASE);
	assert_int_equal(err, -E2BIG);
	assert_true(heap_bytes(g) <= 64 << 10);
	heap_free(g);
}

/* ---- against the simplest way --------------------------------------------- */

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 33;
}

struct oracle {
	uint8_t edge[64][64]; /* 1 weak, 2 strong */
	uint8_t root[64];
	uint8_t reach[64];
};

static void oracle_word(const struct fake *h, uint64_t word, bool weak, uint8_t *row)
{
	uint64_t a = word & ((UINT64_C(1) << 48) - 1);
	bool found = false;
	size_t i;

	for (i = 0; i < h->count; i++) {
		const struct heap_block *b = &h->blocks[i];

		if (a >= b->address && a < b->address + b->size) {
			row[i] |= weak ? 1 : 2;
			found = true;
		}
	}
	for (i = 0; i < h->count && !found; i++)
		if (a == h->blocks[i].address + h->blocks[i].size)
			row[i] |= 1;
}

static void oracle_bytes(
    const struct fake *h, uint64_t at, const unsigned char *p, size_t len, uint8_t *row)
{
	uint64_t word;
	size_t i;

	for (i = (size_t)(-at & 3); i + 8 <= len; i += 4) {
		memcpy(&word, p + i, 8);
		oracle_word(h, word, (at + i) & 4, row);
	}
}

static void spread(struct oracle *o, size_t n, uint8_t need, uint8_t how)
{
	bool again = true;
	size_t i, j;

	for (i = 0; i < n; i++)
		if ((o->root[i] & need) && !o->reach[i])
			o->reach[i] = how;
	while (again) {
		again = false;
		for (i = 0; i < n; i++)
			for (j = 0; o->reach[i] && j < n; j++)
				if ((o->edge[i][j] & need) && !o->reach[j]) {
					o->reach[j] = how;
					again = true;
				}
	}
}

/* Which lost blocks can reach each other, by closure. */
static enum heap_role oracle_role(const struct oracle *o, size_t n, size_t i)
{
	static uint8_t to[64][64];
	bool cycle = false;
	size_t a, b, k;

	memset(to, 0, sizeof(to));
	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++)
			to[a][b] = !o->reach[a] && !o->reach[b] && o->edge[a][b];
	for (k = 0; k < n; k++)
		for (a = 0; a < n; a++)
			for (b = 0; to[a][k] && b < n; b++)
				to[a][b] |= to[k][b];
	for (a = 0; a < n; a++) {
		if (a == i || !to[a][i])
			continue;
		if (!to[i][a])
			return HEAP_INDIRECT;
		cycle = true;
	}
	return cycle ? HEAP_CYCLE : HEAP_DIRECT;
}

TEST(random_heaps_are_judged_as_by_hand)
{
	static struct fake h;
	static struct oracle o;
	uint64_t seed = 1;
	int round;

	for (round = 0; round < 2000; round++) {
		uint64_t size = 8 + draw(&seed) % 120, n = 1 + draw(&seed) % 60;
		uint64_t step = size + (draw(&seed) % 3 ? 8 : 0);
		uint64_t roots[4] = {0};
		size_t i, words = draw(&seed) % 60;
		struct heap *g;

		step = (step + 7) / 8 * 8;
		fake_of(&h, n, size, step);
		memset(&o, 0, sizeof(o));
		for (i = 0; i < words; i++) {
			uint64_t to = BASE + draw(&seed) % (n * step + 16);
			uint64_t at = draw(&seed) % (n * step / 4) * 4;

			memcpy((char *)h.words + at, &to, 8);
		}
		for (i = 0; i < 4; i++)
			if (draw(&seed) % 2)
				roots[i] = BASE + draw(&seed) % (n * step);
		oracle_bytes(&h, 0x2000, (const void *)roots, 32, o.root);
		for (i = 0; i < n; i++)
			oracle_bytes(&h, h.blocks[i].address,
			    (const unsigned char *)h.words + i * step, size, o.edge[i]);
		spread(&o, n, 2, HEAP_HELD);
		spread(&o, n, 3, HEAP_POSSIBLE);
		g = judged(&h, roots, 4, round % 2 ? 4096 : 64);
		assert_int_equal(heap_count(g), n);
		for (i = 0; i < n; i++) {
			assert_int_equal(heap_reach(g, i), o.reach[i]);
			if (!o.reach[i])
				assert_int_equal(heap_role(g, i), oracle_role(&o, n, i));
		}
		heap_free(g);
	}
}

/* test_grown.c - blocks that come while a process is read are found, and who points to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "analysis/holders/held.h"
#include "analysis/holders/root_notes.h"

#define HEAP UINT64_C(0x560000000000)
#define DATA UINT64_C(0x550000000000)

enum { PAGES = 16, PAGE = 4096, MANY = 1 << 20, SITES = 4, CLASSES = SITES };

/* The heap, and data of a program below it. */
static struct roots_areas two_areas(void)
{
	struct roots_areas a = {0};

	a.at = calloc(2, sizeof(*a.at));
	assert_non_null(a.at);
	a.at[0] = (struct roots_area){.start = DATA,
	    .end = DATA + PAGE,
	    .kind = ROOTS_MEMORY,
	    .can_read = true,
	    .can_write = true,
	    .is_file = true};
	a.at[1] = (struct roots_area){.start = HEAP,
	    .end = HEAP + (uint64_t)PAGES * PAGE,
	    .kind = ROOTS_HEAP,
	    .can_read = true,
	    .can_write = true};
	a.count = a.room = 2;
	return a;
}

struct look {
	struct heap *heap;
	struct root_notes notes;
};

/* Known blocks of 64 bytes at HEAP + 64 * i, of site 1. */
static void begin(struct look *l, size_t count)
{
	struct heap_block *b = calloc(count + 1, sizeof(*b));

	assert_non_null(b);
	for (size_t i = 0; i < count; i++)
		b[i] = (struct heap_block){.address = HEAP + 64 * i, .size = 64, .site = 1};
	*l = (struct look){.notes = {.max_bytes = MANY}};
	assert_int_equal(heap_adopt(b, count, MANY, &l->heap), 0);
	l->notes.areas = two_areas();
	assert_int_equal(grown_begin(&l->notes.grown, l->heap, &l->notes.areas, MANY), 0);
}

static void root(struct look *l, uint64_t word)
{
	assert_int_equal(heap_scan(l->heap, HEAP_ROOT, DATA + 64, &word, 8), 0);
	assert_int_equal(
	    root_notes_scan(&l->notes, l->heap, &l->notes.areas, HEAP_ROOT, DATA + 64, &word, 8),
	    0);
}

static void add(struct look *l, uint64_t address, uint32_t site, int expected)
{
	assert_int_equal(grown_add(&l->notes.grown, l->heap, address, 64, site), expected);
	grown_settle(&l->notes.grown);
}

/* What a look does with the contents of a new block, too. */
static void contents(struct look *l, uint64_t address, uint64_t word)
{
	assert_int_equal(heap_scan(l->heap, HEAP_ROOT, address, &word, 8), 0);
	assert_int_equal(grown_scan(&l->notes.grown, l->heap, address, &word, 8), 0);
}

static uint32_t site_of(void *context, uint32_t site)
{
	(void)context;
	return site < SITES ? site : 0;
}

/* Roots are the places of the notes: class CLASSES is the data of the program. */
static struct held *hold(struct look *l)
{
	static uint32_t class_of[SITES] = {0, 1, 2, 3};
	const struct process process = {.module_count = 0};
	struct held_root roots[16] = {{0}};
	struct heap_graph_root pointers[64];
	struct root_places places;
	struct held_input in = {.heap = l->heap,
	    .max_bytes = MANY,
	    .roots = roots,
	    .pointers = pointers,
	    .grown = &l->notes.grown,
	    .site_of = site_of,
	    .class_of = class_of,
	    .site_count = SITES};
	struct held *h;
	uint64_t needed;

	assert_int_equal(root_notes_finish(&l->notes, l->heap), 0);
	assert_int_equal(heap_judge(l->heap), 0);
	assert_int_equal(root_places_make(&l->notes, &process, 1, &places), 0);
	assert_true(places.count <= 14 && l->notes.count <= 64);
	for (size_t i = 0; i < places.count; i++)
		roots[i] = (struct held_root){.layer = root_places_layer(places.at[i].kind),
		    .class = CLASSES + (uint32_t)places.at[i].kind};
	in.lost = (uint32_t)places.count;
	in.weak = in.lost + 1;
	in.root_count = in.lost + 2;
	roots[in.lost] =
	    (struct held_root){root_places_layer(ROOT_LOST), CLASSES + ROOT_LOST, false};
	roots[in.weak] =
	    (struct held_root){root_places_layer(ROOT_WEAK), CLASSES + ROOT_WEAK, false};
	for (size_t i = 0; i < l->notes.count; i++)
		pointers[i] =
		    (struct heap_graph_root){.root = places.of[i], .target = l->notes.at[i].target};
	in.pointer_count = l->notes.count;
	assert_int_equal(held_new(&in, &h, &needed), 0);
	root_places_release(&places);
	root_notes_release(&l->notes);
	return h;
}

/* The kind of the root that holds most blocks of a site, and how many. */
static enum root_kind root_of(const struct held *h, uint32_t site, uint64_t blocks)
{
	uint32_t way[HELD_WAY_MAX];
	struct held_way *best;
	enum root_kind kind;
	size_t shared;

	assert_int_equal(held_best_ways(h, &best), 0);
	assert_int_equal(best[site].sum.blocks, blocks);
	assert_true(held_way(h, best[site].node, way, &shared) > 0);
	kind = (enum root_kind)(h->holders.nodes[way[0]].class - (uint32_t)CLASSES);
	free(best);
	return kind;
}

/* data -> new block -> known list: words that missed lead to it. */
TEST(a_list_is_followed_through_a_new_head)
{
	uint64_t words[3] = {HEAP + 64, HEAP + 128, 0};
	struct look l;
	struct held *h;

	begin(&l, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
		    heap_scan(l.heap, HEAP_BLOCKS, HEAP + 64 * (uint64_t)i, &words[i], 8), 0);
	root(&l, HEAP + 640);
	add(&l, HEAP + 640, 2, 1);
	contents(&l, HEAP + 640, HEAP);
	h = hold(&l);
	assert_int_equal(root_of(h, 1, 3), ROOT_MAPPING);
	assert_int_equal(h->all.blocks, 4);
	assert_int_equal(h->sites[2].retained.blocks, 4);
	assert_int_equal(h->sites[2].retained.bytes, 256);
	held_free(h);
}

/* data -> known table -> new item -> known item. */
TEST(a_word_of_a_known_block_leads_to_a_new_one)
{
	uint64_t word = HEAP + 1000; /* inside of it */
	struct look l;
	struct held *h;

	begin(&l, 2);
	root(&l, HEAP);
	assert_int_equal(heap_scan(l.heap, HEAP_BLOCKS, HEAP, &word, 8), 0);
	add(&l, HEAP + 960, 3, 1);
	contents(&l, HEAP + 960, HEAP + 64);
	h = hold(&l);
	/* the table and the item are of one site, so they are one step */
	assert_int_equal(root_of(h, 1, 2), ROOT_MAPPING);
	assert_int_equal(h->unheld.blocks, 0);
	assert_int_equal(h->sites[3].retained.blocks, 2);
	held_free(h);
}

/* A new block that points to one that is newer still. */
TEST(another_round_finds_what_is_newer_still)
{
	struct look l;
	struct held *h;

	begin(&l, 1);
	root(&l, HEAP + 640);
	add(&l, HEAP + 640, 2, 1);
	contents(&l, HEAP + 640, HEAP + 1280);
	assert_true(grown_wants_more(&l.notes.grown));
	add(&l, HEAP + 640, 2, 0); /* known from the first round */
	add(&l, HEAP + 1280, 2, 1);
	contents(&l, HEAP + 1280, HEAP);
	assert_false(grown_wants_more(&l.notes.grown));
	h = hold(&l);
	assert_int_equal(root_of(h, 1, 1), ROOT_MAPPING);
	held_free(h);
}

TEST(what_only_a_new_block_holds_says_so)
{
	struct look l;
	struct held *h;

	begin(&l, 1);
	add(&l, HEAP + 640, 2, 1);
	contents(&l, HEAP + 640, HEAP);
	h = hold(&l);
	assert_int_equal(root_of(h, 1, 1), ROOT_NEW);
	held_free(h);
}

/* A block was freed, and another one has its address. */
TEST(a_new_block_takes_the_place_of_a_known_one)
{
	struct look l;
	struct held *h;

	begin(&l, 2);
	root(&l, HEAP);
	add(&l, HEAP, 3, 1);
	contents(&l, HEAP, HEAP + 64);
	h = hold(&l);
	assert_int_equal(h->graph.blocks, 2);
	assert_int_equal(h->sites[1].own.blocks, 1);
	assert_int_equal(h->sites[3].own.blocks, 1);
	assert_int_equal(h->sites[3].retained.blocks, 2);
	held_free(h);
}

/* Where nothing can be mapped no word is kept; nor beyond the memory for them. */
TEST(words_that_cannot_be_pointers_are_not_kept)
{
	const uint64_t odd[] = {
	    0, 5, UINT32_MAX, DATA + 8, UINT64_C(0x700000000000), UINT64_C(1) << 47};
	struct look l;

	begin(&l, 1);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		root(&l, odd[i]);
	assert_int_equal(l.notes.grown.word_count, 0);
	root(&l, HEAP + (uint64_t)PAGES * PAGE + 16); /* brk() goes on there */
	assert_int_equal(l.notes.grown.word_count, 1);
	l.notes.grown.max_bytes = sizeof(struct grown_word);
	root(&l, HEAP + 512);
	assert_int_equal(l.notes.grown.word_count, 1);
	assert_true(l.notes.grown.is_cut);
	root_notes_release(&l.notes);
	heap_free(l.heap);
}

/* fuzz_held.c - any blocks, words, threads and new blocks of a process: who holds what comes out, and its sums agree. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/holders/held.h"
#include "analysis/holders/root_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Addresses are small numbers above BASE, so that words of the input are
 * pointers often. BASE is above 2^32, where gaps between mappings count.
 */
#define BASE (UINT64_C(1) << 40)

enum { LIMIT = 4 << 20, SITES = 16, CLASSES = 5, UNIT = 8, PID = 7 };

struct input {
	const uint8_t *at;
	size_t left;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static uint64_t number(struct input *in, size_t bytes)
{
	uint64_t n = 0;

	if (bytes > in->left)
		bytes = in->left;
	memcpy(&n, in->at, bytes);
	in->at += bytes;
	in->left -= bytes;
	return n;
}

static uint64_t place(struct input *in)
{
	return BASE + number(in, 2) * UNIT;
}

/* ---- what a look reads ---- */

static void make_areas(struct input *in, struct roots_areas *ret)
{
	size_t count = number(in, 1) % 12;
	uint64_t end = BASE;

	*ret = (struct roots_areas){0};
	ret->at = calloc(count + 1, sizeof(*ret->at));
	check(ret->at != NULL);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = end + (number(in, 1) << 12);
		uint64_t flags = number(in, 1);

		end = start + ((1 + number(in, 1)) << 12);
		ret->at[ret->count++] = (struct roots_area){.start = start,
		    .end = end,
		    .kind = flags % (ROOTS_KERNEL + 1),
		    .can_read = true,
		    .can_write = flags & 8,
		    .is_file = flags & 16};
	}
}

static struct heap *make_heap(struct input *in)
{
	size_t count = number(in, 1);
	struct heap_block *blocks = calloc(count + 1, sizeof(*blocks));
	struct heap *h;

	check(blocks != NULL);
	for (size_t i = 0; i < count; i++) {
		blocks[i] = (struct heap_block){.address = place(in),
		    .size = number(in, 1) * UNIT,
		    .site = (uint32_t)number(in, 1),
		    .birth = (uint32_t)number(in, 1)};
		if (number(in, 1) == 255)
			blocks[i].size <<= 32; /* larger than 4 GiB */
	}
	return heap_adopt(blocks, count, LIMIT, &h) < 0 ? NULL : h;
}

static size_t make_words(struct input *in, uint64_t *to, size_t most)
{
	size_t count = number(in, 1);

	if (count > most)
		count = most;
	for (size_t i = 0; i < count; i++)
		to[i] = place(in);
	return count;
}

/* Words of blocks come in the order of their addresses. */
static int read_memory(
    struct input *in, struct heap *h, struct root_notes *n, const struct roots_areas *areas)
{
	uint64_t words[256], at = BASE;
	int err = 0;

	while (in->left > 0 && err == 0) {
		uint64_t what = number(in, 1);
		size_t len = make_words(in, words, 256) * sizeof(*words);

		switch (what % 5) {
		case 0:
			at += number(in, 2) * UNIT;
			err = heap_scan(h, HEAP_BLOCKS, at, words, len);
			at += len;
			break;
		case 1:
			return 0;
		case 2:
			err = root_notes_word(n, h, ROOT_NOTES_REGISTER, len ? words[0] : 0);
			break;
		default: {
			uint64_t root = place(in);
			enum heap_part part = what & 8 ? HEAP_WEAK_ROOT : HEAP_ROOT;

			err = heap_scan(h, part, root, words, len);
			if (err == 0)
				err = root_notes_scan(n, h, areas, part, root, words, len);
		}
		}
	}
	return err;
}

static int read_new(struct input *in, struct heap *h, struct root_notes *n)
{
	uint64_t words[256];
	int err = 0;

	for (int i = 0; i < GROWN_ROUNDS && in->left > 0 && err >= 0; i++) {
		size_t count = number(in, 1);

		for (size_t k = 0; k < count && err >= 0; k++) {
			uint64_t address = place(in);
			uint64_t size = number(in, 1) * UNIT;

			err = grown_add(
			    &n->grown, h, address, size, number(in, 1) ? 3 : GROWN_NO_SITE);
		}
		grown_settle(&n->grown);
		for (int k = 0; k < 4 && err >= 0; k++) {
			uint64_t address = place(in);
			size_t words_in = make_words(in, words, 256);

			err = grown_scan(&n->grown, h, address, words, words_in * sizeof(*words));
		}
		(void)grown_wants_more(&n->grown);
	}
	return err < 0 ? err : 0;
}

static void make_threads(struct input *in, struct root_notes *n)
{
	size_t count = number(in, 1) % 4;

	n->threads = calloc(count + 1, sizeof(*n->threads));
	check(n->threads != NULL);
	for (size_t i = 0; i < count; i++) {
		struct root_thread *t = &n->threads[n->thread_count++];

		t->tcb = place(in);
		t->low = t->tcb - number(in, 1) * UNIT;
		t->tid = (pid_t)(PID + number(in, 1) % 2);
		t->tls[0] = (struct root_tls){.start = t->low, .end = t->tcb, .module = 1};
		t->tls_count = 1;
	}
}

/* ---- what comes out ---- */

static uint32_t site_of(void *context, uint32_t site)
{
	(void)context;
	return site % SITES;
}

static void check_sums(const struct held *h)
{
	struct holders_sum own = {0};

	for (uint32_t i = 0; i < SITES; i++) {
		own.blocks += h->sites[i].own.blocks;
		own.bytes += h->sites[i].own.bytes;
		check(h->sites[i].retained.blocks <= h->all.blocks);
		check(h->sites[i].retained.bytes <= h->all.bytes);
	}
	check(own.blocks == h->all.blocks + h->unheld.blocks);
	check(own.bytes == h->all.bytes + h->unheld.bytes);
	check(own.blocks == h->graph.blocks);
}

static void check_nodes(const struct held *h)
{
	for (uint32_t i = 1; i < h->holders.count; i++) {
		const struct holders_node *n = &h->holders.nodes[i];
		uint32_t way[HELD_WAY_MAX], several[HELD_SEVERAL], root;
		size_t shared, count = held_way(h, i, way, &shared);

		check(n->parent < i);
		check(n->parent == 0 ||
		    n->retained.bytes <= h->holders.nodes[n->parent].retained.bytes);
		check(held_is_root(h, i, &root) || n->own.bytes <= n->retained.bytes);
		check(count > 0 && count <= HELD_WAY_MAX && shared < count);
		check(way[count - 1] == i);
		for (size_t k = 0; k < count; k++)
			check(way[k] > 0 && way[k] < h->holders.count);
		count = held_several(h, i, several);
		for (size_t k = 0; k < count; k++)
			check(several[k] > 0 && several[k] < h->holders.count);
	}
}

static void check_ways(const struct held *h)
{
	uint32_t *suspects;
	size_t count;

	for (uint32_t site = 0; site < SITES; site++) {
		struct holders_sum unheld, sum = {0};
		struct held_way *ways;

		if (held_ways(h, site, &ways, &count, &unheld) < 0)
			return;
		for (size_t i = 0; i < count; i++) {
			sum.blocks += ways[i].sum.blocks;
			sum.bytes += ways[i].sum.bytes;
		}
		free(ways);
		check(sum.blocks + unheld.blocks == h->sites[site].own.blocks);
		check(sum.bytes + unheld.bytes == h->sites[site].own.bytes);
	}
	if (held_suspects(h, 0, &suspects, &count) < 0)
		return;
	for (size_t i = 0; i < count; i++)
		check(suspects[i] < h->holders.count);
	free(suspects);
}

/* Takes the heap. */
static void hold(struct heap *heap, const struct root_notes *n, const struct root_places *places)
{
	uint32_t class_of[SITES], count = (uint32_t)places->count;
	struct held_root *roots = calloc(count + 2, sizeof(*roots));
	struct heap_graph_root *pointers = calloc(n->count + 1, sizeof(*pointers));
	struct held_input in = {.heap = heap,
	    .max_bytes = LIMIT,
	    .roots = roots,
	    .root_count = count + 2,
	    .lost = count,
	    .weak = count + 1,
	    .pointers = pointers,
	    .pointer_count = n->count,
	    .grown = &n->grown,
	    .site_of = site_of,
	    .class_of = class_of,
	    .site_count = SITES};
	struct held *h;
	uint64_t needed;
	int err;

	check(roots && pointers);
	for (uint32_t i = 0; i < SITES; i++)
		class_of[i] = i % CLASSES;
	for (uint32_t i = 0; i < count + 2; i++) {
		enum root_kind kind = i < count ? places->at[i].kind
		    : i == count                ? ROOT_LOST
		                                : ROOT_WEAK;

		roots[i] =
		    (struct held_root){.layer = root_places_layer(kind), .class = CLASSES + i};
	}
	for (size_t i = 0; i < n->count; i++)
		pointers[i] =
		    (struct heap_graph_root){.root = places->of[i], .target = n->at[i].target};
	err = held_new(&in, &h, &needed);
	check(err == 0 || err == -E2BIG || err == -ENOMEM);
	if (err == 0) {
		check_sums(h);
		check_nodes(h);
		check_ways(h);
		held_free(h);
	}
	free(roots);
	free(pointers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct root_notes notes = {.max_bytes = LIMIT};
	struct process_module modules[2] = {{.start = 0}};
	const struct process process = {.modules = modules, .module_count = 2};
	struct root_places places = {0};
	struct roots_areas areas;
	struct heap *heap;
	int err;

	make_areas(&in, &areas);
	modules[1].start = modules[1].base = place(&in);
	modules[1].end = modules[1].start + (number(&in, 1) << 12);
	heap = make_heap(&in);
	err = heap ? grown_begin(&notes.grown, heap, &areas, LIMIT) : -ENOMEM;
	if (err == 0)
		err = read_memory(&in, heap, &notes, &areas);
	if (err == 0)
		err = read_new(&in, heap, &notes);
	if (err == 0)
		err = root_notes_finish(&notes, heap);
	make_threads(&in, &notes);
	notes.areas = areas;
	if (err == 0)
		err = heap_judge(heap);
	if (err == 0)
		err = root_places_make(&notes, &process, PID, &places);
	if (err == 0)
		hold(heap, &notes, &places);
	else
		heap_free(heap);
	root_places_release(&places);
	root_notes_release(&notes);
	return 0;
}

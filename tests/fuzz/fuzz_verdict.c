/* fuzz_verdict.c - whatever a process says of its memory, the graph of its blocks is made and judged. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/leaks/owned.h"
#include "analysis/leaks/look.h"
#include "host/proc/roots.h"
#include "host/memory/threads.h"
#include "analysis/types/survey_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 2 << 20 };

struct input {
	const uint8_t *at;
	size_t left;
};

/* Up to n bytes of what is left. */
static struct input take(struct input *in, size_t n)
{
	struct input ret = {in->at, n < in->left ? n : in->left};

	in->at += ret.left;
	in->left -= ret.left;
	return ret;
}

static uint64_t number(struct input *in, size_t bytes)
{
	struct input x = take(in, bytes);
	uint64_t n = 0;

	memcpy(&n, x.at, x.left);
	return n;
}

static int nothing(uint64_t word, void *context)
{
	(void)word;
	(void)context;
	return 0;
}

/* Texts of /proc: the memory map, a thread, epoll and timers. */
static void read_texts(struct input text, struct roots_areas *areas)
{
	char *copy = calloc(1, text.left + 1);
	uint64_t pointer, words[6], count = 0;
	size_t n;

	if (!copy)
		abort();
	memcpy(copy, text.at, text.left);
	(void)threads_parse(copy, &pointer, words, &n);
	(void)kernel_words_parse_epoll(copy, nothing, NULL, &count);
	(void)kernel_words_parse_timers(copy, nothing, NULL, &count);
	if (roots_parse(copy, areas) < 0)
		abort();
	for (size_t i = 1; i < areas->count; i++)
		if (areas->at[i - 1].end > areas->at[i].start)
			abort();
	free(copy);
}

/* What is to be scanned never overlaps what is not. */
static void make_plan(const struct roots_areas *areas, const struct heap *heap,
    const uint64_t *pointers, size_t count)
{
	const struct heap_block *b = heap_blocks(heap);
	struct roots_plan plan = {.weak = {0}};
	struct ranges not = {0};

	for (size_t i = 0; i < heap_count(heap); i++)
		if (address_ranges_add(&not, b[i].address, b[i].address + b[i].size) < 0)
			abort();
	address_ranges_settle(&not );
	if (roots_plan(areas, &not, pointers, count, &plan) < 0)
		abort();
	for (size_t i = 0; i < plan.certain.count; i++)
		if (address_ranges_hold(&not, plan.certain.at[i].start) ||
		    address_ranges_hold(&plan.weak, plan.certain.at[i].start))
			abort();
	roots_plan_release(&plan);
	address_ranges_release(&not );
}

static struct heap *make_heap(struct input *in, size_t count)
{
	struct heap_block *blocks = calloc(count + 1, sizeof(*blocks));
	struct heap *h;
	int err;

	if (!blocks)
		abort();
	for (size_t i = 0; i < count; i++) {
		blocks[i].address = number(in, 8);
		blocks[i].size = number(in, 8);
		blocks[i].site = (uint32_t)number(in, 3);
		blocks[i].birth = (uint32_t)number(in, 1);
	}
	err = heap_adopt(blocks, count, LIMIT, &h);
	return err < 0 ? NULL : h;
}

/* The rest is memory: of roots, and of blocks at where the first one is. */
static void scan(struct heap *h, struct input memory)
{
	struct input roots = take(&memory, memory.left / 2);
	uint64_t address = heap_count(h) ? heap_blocks(h)[0].address : 4096;
	struct range r;
	uint64_t used;

	(void)heap_scan(h, HEAP_ROOT, 0x1000, roots.at, roots.left);
	(void)heap_scan(h, HEAP_WEAK_ROOT, 0x1004, roots.at, roots.left);
	while (memory.left > 0) {
		struct input piece = take(&memory, 100);

		if (heap_scan(h, HEAP_BLOCKS, address, piece.at, piece.left) < 0)
			break;
		address += piece.left;
	}
	if (roots.left >= 40)
		(void)jemalloc_memory_is_base(0x200000, roots.at, &r, &used);
	if (roots.left >= 24)
		(void)jemalloc_memory_is_record(roots.at, &r);
}

/* The rest as the memory of a module: each word may be a vtable. */
enum { MODULE = 0x10000 };

static bool read_module(void *context, uint64_t address, void *to, size_t bytes)
{
	const struct input *in = context;

	if (address < MODULE || address - MODULE > in->left ||
	    bytes > in->left - (address - MODULE))
		return false;
	memcpy(to, in->at + (address - MODULE), bytes);
	return true;
}

static bool is_in_module(void *context, uint64_t address)
{
	const struct input *in = context;

	return address >= MODULE && address - MODULE < in->left;
}

static void name_vtables(struct input in)
{
	const struct vtable_memory memory = {
	    .read = read_module, .is_in_module = is_in_module, .context = &in};
	char name[VTABLE_NAME_BYTES];

	for (uint64_t a = 0; a < in.left; a += 8) {
		size_t len = vtable_name(&memory, MODULE + a, name);

		if (len >= sizeof(name) || (len > 0 && (name[len] || !vtable_is_name(name, len))))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct roots_areas areas;
	struct looks_site *sites;
	uint64_t pointers[4];
	struct looks *looks;
	struct heap *h;
	size_t n;

	name_vtables(in);
	read_texts(take(&in, number(&in, 2)), &areas);
	for (int i = 0; i < 4; i++)
		pointers[i] = number(&in, 8);
	h = make_heap(&in, number(&in, 1));
	if (h) {
		make_plan(&areas, h, pointers, 4);
		scan(h, in);
		if (heap_judge(h) == 0) {
			if (looks_new(100, &looks) < 0 || looks_add(looks, h) < 0 ||
			    looks_add(looks, h) < 0 || looks_sites(looks, &sites, &n) < 0)
				abort();
			free(sites);
			looks_free(looks);
		}
	}
	heap_free(h);
	roots_release(&areas);
	return 0;
}

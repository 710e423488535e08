/* heap.c - blocks of a heap and who points to whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/heap.h"

#include <sys/mman.h>

#include "analysis/leaks/heap_find.h"
#include "analysis/leaks/heap_parts.h"
#include "kit/data/dict.h"
#include "kit/data/sorted.h"

enum {
	REGION_BITS = HEAP_REGION_BITS,
	PAGE_BITS = HEAP_PAGE_BITS,
	REGION_PAGES = HEAP_REGION_PAGES,
	FIRST_EDGES = 4096,
};

#define ADDRESS_TOP (UINT64_C(1) << 47) /* user addresses end here */

/* ---- memory --------------------------------------------------------------- */

static int charge(struct heap *h, uint64_t bytes)
{
	if (bytes > h->max_bytes - h->bytes)
		return -E2BIG;
	h->bytes += bytes;
	return 0;
}

void *heap_take(struct heap *h, size_t count, size_t size, int *err)
{
	void *p;

	*err = charge(h, (uint64_t)count * size);
	if (*err < 0)
		return NULL;
	p = large_zeroed(count * size);
	if (!p)
		*err = -ENOMEM;
	return p;
}

void heap_give(struct heap *h, uint64_t bytes)
{
	h->bytes -= bytes;
}

int heap_add_edge(struct heap *h, struct heap_edges *e, uint32_t edge)
{
	if (e->count == e->room) {
		size_t room = e->room ? e->room + e->room / 2 : FIRST_EDGES;
		uint32_t *at;
		int err = charge(h, (room - e->room) * sizeof(*at));

		if (err < 0)
			return err;
		at = large_grow(e->at, e->count * sizeof(*at), room * sizeof(*at));
		if (!at)
			return -ENOMEM;
		e->at = at;
		e->room = room;
	}
	e->at[e->count++] = edge;
	return 0;
}

/* ---- blocks --------------------------------------------------------------- */

BY(by_address, struct heap_block, UP(address) ?: UP(birth))

static bool is_sane(const struct heap_block *b)
{
	return b->address && b->address < ADDRESS_TOP && b->size <= ADDRESS_TOP - b->address;
}

/*
 * Of two blocks that overlap one was freed while they were read. The younger
 * one is there; of two of the same age the one at the lower address.
 */
static void drop_overlaps(struct heap *h)
{
	size_t i, kept = 0;

	for (i = 0; i < h->count; i++) {
		const struct heap_block *b = &h->blocks[i];

		while (kept) {
			const struct heap_block *a = &h->blocks[kept - 1];
			uint64_t end = a->address + (a->size ? a->size : 1);

			if (b->address >= end || a->birth >= b->birth)
				break;
			kept--;
			h->refused++;
		}
		if (kept) {
			const struct heap_block *a = &h->blocks[kept - 1];

			if (b->address < a->address + (a->size ? a->size : 1)) {
				h->refused++;
				continue;
			}
		}
		h->blocks[kept++] = *b;
	}
	h->count = kept;
}

/*
 * A live map is read in the order of its addresses, but for the few blocks of
 * its spill table, which come last: these are sorted and merged into the rest.
 */
static int sort_blocks(struct heap *h)
{
	struct heap_block *b = h->blocks, *tail;
	size_t sorted, left, n, to = h->count;
	int err;

	for (sorted = 1; sorted < h->count; sorted++)
		if (by_address(&b[sorted - 1], &b[sorted]) > 0)
			break;
	if (sorted >= h->count)
		return 0;
	n = h->count - sorted;
	qsort(b + sorted, n, sizeof(*b), by_address);
	tail = heap_take(h, n, sizeof(*tail), &err);
	if (!tail)
		return err;
	memcpy(tail, b + sorted, n * sizeof(*b));
	for (left = sorted; n > 0;) {
		if (left > 0 && by_address(&b[left - 1], &tail[n - 1]) > 0)
			b[--to] = b[--left];
		else
			b[--to] = tail[--n];
	}
	free(tail);
	heap_give(h, (h->count - sorted) * sizeof(*tail));
	return 0;
}

static int check_blocks(struct heap *h, size_t count)
{
	int err;

	for (size_t i = 0; i < count; i++) {
		if (is_sane(&h->blocks[i]))
			h->blocks[h->count++] = h->blocks[i];
		else
			h->refused++;
	}
	err = sort_blocks(h);
	if (err == 0)
		drop_overlaps(h);
	return err;
}

/* ---- from an address to its block ---------------------------------------- */

/* Regions in which a block begins or through which it goes. */
static uint64_t count_regions(const struct heap *h)
{
	uint64_t n = 0, next = 0;
	size_t i;

	for (i = 0; i < h->count; i++) {
		const struct heap_block *b = &h->blocks[i];
		uint64_t from = b->address >> REGION_BITS;
		uint64_t to = (b->address + b->size) >> REGION_BITS;

		if (from < next)
			from = next;
		if (to >= from) {
			n += to - from + 1;
			next = to + 1;
		}
	}
	return n;
}

/* The region of a page; it may be all of block i. */
static int open_region(
    struct heap *h, uint64_t number, bool whole, uint32_t i, struct heap_region **ret)
{
	struct heap_region *r = heap_region_at(h, number);
	int err;

	*ret = r;
	if (r->number)
		return 0;
	if (whole) {
		r->whole[0] = i;
		r->whole[1] = HEAP_NO_BLOCK;
	} else {
		r->first = heap_take(h, REGION_PAGES, sizeof(*r->first), &err);
		if (!r->first)
			return err;
		memset(r->first, 0xff, REGION_PAGES * sizeof(*r->first));
	}
	r->number = number + 1;
	return 0;
}

/* Pages [page, end] are of block i, but for those that an earlier one has. */
static int index_block(struct heap *h, uint32_t i, uint64_t page, uint64_t end)
{
	while (page <= end) {
		uint64_t number = page >> (REGION_BITS - PAGE_BITS);
		uint64_t next = (number + 1) << (REGION_BITS - PAGE_BITS);
		bool whole = page % REGION_PAGES == 0 && next <= end; /* no other */
		struct heap_region *r;
		int err = open_region(h, number, whole, i, &r);

		if (err < 0)
			return err;
		for (; !whole && page <= end && page < next; page++)
			r->first[page % REGION_PAGES] = i;
		page = whole ? next : page;
	}
	return 0;
}

static int index_blocks(struct heap *h)
{
	uint64_t regions = count_regions(h), room = 16;
	uint64_t page, last = 0;
	int err;

	while (room < 2 * regions)
		room *= 2;
	h->regions = heap_take(h, room, sizeof(*h->regions), &err);
	if (!h->regions)
		return err;
	h->region_mask = room - 1;
	for (size_t i = 0; i < h->count && err == 0; i++) {
		const struct heap_block *b = &h->blocks[i];
		/* the byte behind the block is looked up, too */
		uint64_t end = (b->address + b->size) >> PAGE_BITS;

		page = b->address >> PAGE_BITS;
		if (page <= last && i)
			page = last + 1;
		err = index_block(h, (uint32_t)i, page, end);
		if (last < end)
			last = end;
	}
	return err;
}

int64_t heap_find(const struct heap *h, uint64_t address)
{
	const uint32_t *first = heap_first_of_page(h, address);
	struct heap_span span;
	uint32_t i = HEAP_NO_BLOCK;

	if (first && heap_span_of_page(h, first, address, &span))
		i = heap_find_in(h, &span, address);
	if (i == HEAP_NO_BLOCK || address - h->blocks[i].address == h->blocks[i].size)
		return -1;
	return i;
}

int heap_note_other(struct heap *h, uint64_t address)
{
	const uint32_t *first = heap_first_of_page(h, address);
	uint32_t i = HEAP_NO_BLOCK;
	struct heap_span span;
	int err;

	if (first && heap_span_of_page(h, first, address, &span))
		i = heap_find_in(h, &span, address);
	if (i == HEAP_NO_BLOCK || h->blocks[i].address == address ||
	    address - h->blocks[i].address != h->blocks[i].size)
		return 0;
	if (!h->taken) {
		h->taken = heap_take(h, h->count / 8 + 1, 1, &err);
		if (!h->taken)
			return err;
	}
	h->taken[i / 8] |= (uint8_t)(1u << i % 8);
	return 0;
}

/* ---- life ----------------------------------------------------------------- */

static int open_heap(struct heap *h, size_t count)
{
	int err = check_blocks(h, count);

	if (err == 0 && h->count) {
		const struct heap_block *last = &h->blocks[h->count - 1];

		h->lo = h->blocks[0].address;
		h->hi = last->address + last->size;
	} else {
		h->lo = h->hi = ADDRESS_TOP; /* no address is there */
	}
	if (err == 0)
		h->keys = heap_take(h, h->count, sizeof(*h->keys), &err);
	for (size_t i = 0; i < h->count && err == 0; i++)
		h->keys[i] = heap_key(&h->blocks[i]);
	if (err == 0)
		err = index_blocks(h);
	if (err == 0)
		h->begin = heap_take(h, h->count + 1, sizeof(*h->begin), &err);
	if (err == 0)
		h->reach = heap_take(h, h->count, 1, &err);
	if (err == 0)
		h->detail = heap_take(h, h->count, 1, &err);
	return err;
}

int heap_adopt(struct heap_block *blocks, size_t count, uint64_t max_bytes, struct heap **ret)
{
	struct heap *h = NULL;
	int err = count > HEAP_BLOCKS_MAX ? -EOVERFLOW : 0;

	if (err == 0) {
		h = calloc(1, sizeof(*h));
		if (!h)
			err = -ENOMEM;
	}
	if (err < 0) {
		free(blocks);
		return err;
	}
	h->max_bytes = max_bytes;
	h->seed = dict_hash(1, 0, 0);
	h->blocks = blocks;
	err = charge(h, count * sizeof(*blocks));
	if (err == 0)
		err = open_heap(h, count);
	if (err < 0) {
		heap_free(h);
		return err;
	}
	*ret = h;
	return 0;
}

int heap_new(const struct heap_block *blocks, size_t count, uint64_t max_bytes, struct heap **ret)
{
	struct heap_block *copy;

	if (count > HEAP_BLOCKS_MAX)
		return -EOVERFLOW;
	copy = calloc(count ? count : 1, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	if (count)
		memcpy(copy, blocks, count * sizeof(*copy));
	return heap_adopt(copy, count, max_bytes, ret);
}

void heap_free(struct heap *h)
{
	uint64_t i;

	if (!h)
		return;
	for (i = 0; h->regions && i <= h->region_mask; i++)
		free(h->regions[i].first);
	free(h->regions);
	free(h->blocks);
	free(h->keys);
	free(h->edges.at);
	free(h->roots.at);
	free(h->begin);
	free(h->reach);
	free(h->taken);
	free(h->detail);
	free(h);
}

size_t heap_count(const struct heap *h)
{
	return h->count;
}

const struct heap_block *heap_blocks(const struct heap *h)
{
	return h->blocks;
}

uint64_t heap_refused(const struct heap *h)
{
	return h->refused;
}

uint64_t heap_bytes(const struct heap *h)
{
	return h->bytes;
}

/* ---- large: arrays that are read here and there: in large pages ---- */

enum {
	HUGE = 2 << 20,
	LEAST = 2 * HUGE, /* below that it is not worth it */
};

/* Only helps for pages that nobody has touched. */
static void ask_for_huge_pages(void *at, size_t bytes)
{
	uintptr_t skip = -(uintptr_t)at % HUGE;

	if (bytes >= LEAST)
		(void)madvise((char *)at + skip, (bytes - skip) / HUGE * HUGE, MADV_HUGEPAGE);
}

void *large_zeroed(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (p)
		ask_for_huge_pages(p, bytes);
	return p;
}

void *large_grow(void *old, size_t keep, size_t bytes)
{
	void *p;

	if (bytes < LEAST)
		return realloc(old, bytes);
	/* the kernel would move it, and its large pages would be none then */
	if (posix_memalign(&p, HUGE, bytes) != 0)
		return NULL;
	ask_for_huge_pages(p, bytes);
	if (keep)
		memcpy(p, old, keep);
	free(old);
	return p;
}

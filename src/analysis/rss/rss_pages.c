/* rss_pages.c - shares resident pages of a heap out among its blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rss/rss_reading.h"

#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	MAPPED_MIN = 128 << 10, /* glibc maps no smaller block by itself */
	MAPPED_HEAD = 16,
	CHUNK_HEAD = 8, /* of glibc: the size, right before the block */
	CHUNK_MIN = 32,
	ALIGN = 16,
	NEAR = 32, /* bytes to the next block that are rounding for sure */
};

/* Heaps of glibc's other arenas have this size and alignment. */
#define ARENA_BYTES (UINT64_C(64) << 20)
#define ADDRESS_END (UINT64_C(1) << 47)

/* ---- blocks ---- */

static uint64_t end_of(const struct rss_block *b)
{
	return b->address + b->size;
}

BY(by_address, struct rss_block, UP(address))

static bool is_sorted(const struct rss_block *b, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (b[i - 1].address > b[i].address)
			return false;
	return true;
}

size_t rss_pages_settle(struct rss_block *blocks, size_t count)
{
	size_t kept = 0;

	if (!is_sorted(blocks, count))
		qsort(blocks, count, sizeof(*blocks), by_address);
	for (size_t i = 0; i < count; i++) {
		const struct rss_block *b = &blocks[i];

		if (b->address == 0 || b->address >= ADDRESS_END ||
		    b->size > ADDRESS_END - b->address)
			continue;
		if (kept > 0 && end_of(&blocks[kept - 1]) > b->address)
			blocks[kept - 1].size = b->address - blocks[kept - 1].address;
		if (kept > 0 && blocks[kept - 1].address == b->address)
			kept--;
		blocks[kept++] = *b;
	}
	return kept;
}

bool rss_pages_is_mapped(const struct rss_block *b, uint64_t page_bytes)
{
	return b->size >= MAPPED_MIN && b->address % page_bytes == MAPPED_HEAD;
}

/* ---- what is heap ---- */

int rss_pages_add(struct rss_ranges *r, uint64_t start, uint64_t end)
{
	int err;

	if (start >= end)
		return 0;
	if (r->count && r->at[r->count - 1].end >= start) {
		if (r->at[r->count - 1].end < end)
			r->at[r->count - 1].end = end;
		return 0;
	}
	err = room_make(&r->at, &r->room, r->count, sizeof(*r->at));
	if (err < 0)
		return err;
	r->at[r->count++] = (struct rss_range){start, end};
	return 0;
}

int rss_pages_heap(struct rss_range area, uint64_t page_bytes, bool is_glibc,
    const struct rss_block *blocks, size_t count, size_t *at, struct rss_ranges *ret)
{
	int err = 0;

	while (*at < count && blocks[*at].address < area.start)
		++*at;
	for (; *at < count && blocks[*at].address < area.end && err == 0; ++*at) {
		const struct rss_block *b = &blocks[*at];
		uint64_t start = area.start, end = area.end;

		if (is_glibc && rss_pages_is_mapped(b, page_bytes)) {
			start = b->address - MAPPED_HEAD;
			end = (end_of(b) + page_bytes - 1) & ~(page_bytes - 1);
		} else if (is_glibc) {
			start = b->address & ~(ARENA_BYTES - 1);
			end = start + ARENA_BYTES;
		}
		if (start < area.start)
			start = area.start;
		if (end > area.end)
			end = area.end;
		err = rss_pages_add(ret, start, end);
	}
	return err;
}

/* ---- pages ---- */

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t overlap(uint64_t start, uint64_t end, uint64_t low, uint64_t high)
{
	if (start < low)
		start = low;
	if (end > high)
		end = high;
	return start < end ? end - start : 0;
}

/*
 * The bytes of [low, high) that the allocator adds to a block: before it, and
 * behind it up to the next block at most. glibc's chunks are known exactly. Of
 * another allocator it is the way to the next block, if that is short; else the
 * alignment.
 */
static uint64_t rounding_of(const struct rss_pages *p, const struct rss_block *b, uint64_t before,
    uint64_t next, uint64_t low, uint64_t high)
{
	uint64_t head = b->address, end = end_of(b), tail;

	if (p->is_glibc && rss_pages_is_mapped(b, p->page_bytes)) {
		head -= MAPPED_HEAD;
		tail = (end + p->page_bytes - 1) & ~(p->page_bytes - 1);
	} else if (p->is_glibc) {
		uint64_t chunk = (b->size + CHUNK_HEAD + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);

		head -= CHUNK_HEAD;
		tail = head + (chunk < CHUNK_MIN ? CHUNK_MIN : chunk);
	} else if (next - end <= NEAR || next - end <= b->size / 4) {
		tail = next;
	} else {
		tail = (end + ALIGN - 1) & ~(uint64_t)(ALIGN - 1);
	}
	if (head < before)
		head = before;
	return overlap(head, b->address, low, high) + overlap(end, at_most(tail, next), low, high);
}

/* The figures of one page; `first` to `last` are the blocks that touch it. */
static void share_page(struct rss_pages *p, const struct rss_block *blocks, size_t count,
    size_t first, size_t last, uint64_t page, bool is_arena)
{
	const uint64_t size = p->page_bytes, high = page + size;
	uint64_t live = 0, weight = 0, rounding = 0, sum = 0, given = 0;
	bool is_thin;

	for (size_t i = first; i < last; i++) {
		const struct rss_block *b = &blocks[i];
		uint64_t part = overlap(b->address, end_of(b), page, high);

		live += part;
		weight += part ? part : 1; /* of 0 bytes, but it holds a page */
		rounding += rounding_of(p, b, i > 0 ? end_of(b - 1) : 0,
		    i + 1 < count ? b[1].address : ADDRESS_END, page, high);
	}
	if (weight == 0) {
		p->free += size;
		p->arena_free += is_arena ? size : 0;
		return;
	}
	rounding = at_most(rounding, size - live);
	is_thin = live < size / 4;
	p->live += live;
	p->rounding += rounding;
	p->partly += size - live - rounding;
	p->arena_free += is_arena ? size - live - rounding : 0;
	p->fills[at_most(live * RSS_FILLS / size, RSS_FILLS - 1)] += size;
	for (size_t i = first; i < last; i++) {
		const struct rss_block *b = &blocks[i];
		uint64_t part = overlap(b->address, end_of(b), page, high);
		struct rss_share *s = &p->shares[b->who];
		uint64_t share;

		sum += part ? part : 1;
		share = size * sum / weight - given;
		given += share;
		s->live += part;
		/* of blocks of 0 bytes beside full ones */
		s->holds += share > part ? share : part;
		s->thin += is_thin ? share : 0;
		s->blocks += b->address >= page;
	}
}

void rss_pages_share(struct rss_pages *p, const struct rss_block *blocks, size_t count,
    struct rss_range run, bool is_arena)
{
	for (uint64_t page = run.start; page < run.end; page += p->page_bytes) {
		uint64_t high = page + p->page_bytes;
		size_t last;

		/* a block of 0 bytes is where it begins */
		while (
		    p->at < count && end_of(&blocks[p->at]) <= page && blocks[p->at].address < page)
			p->at++;
		for (last = p->at; last < count && blocks[last].address < high;)
			last++;
		share_page(p, blocks, count, p->at, last, page, is_arena);
	}
}

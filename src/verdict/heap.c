/* heap.c - blocks of a heap and who points to whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "util/dict.h"

enum {
	REGION_BITS = 21, /* 2 MiB: what one entry of the page index covers */
	PAGE_BITS = 12,
	REGION_PAGES = 1 << (REGION_BITS - PAGE_BITS),
	FIRST_EDGES = 4096,
};

#define BLOCKS_MAX   UINT32_C(0x7fffffff)
#define WEAK         UINT32_C(0x80000000) /* in an edge */
#define NO_BLOCK     UINT32_MAX
#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)
#define ADDRESS_TOP  (UINT64_C(1) << 47) /* user addresses end here */

/*
 * For each page of a region the first block that ends behind the page's
 * beginning. A region is found by hash: heaps are few ranges, far apart.
 */
struct region {
	uint64_t number; /* address >> REGION_BITS, plus 1; 0: free */
	uint32_t *first; /* REGION_PAGES of them */
};

/*
 * A word that may be a pointer. Words are looked up many at a time, in three
 * rounds that each ask for the memory that the next one needs: a heap is larger
 * than any cache, and one look-up after the other would wait for memory three
 * times each.
 */
struct candidate {
	uint64_t address;
	const uint32_t *first; /* of its page, NULL: there is no block */
	uint32_t source;       /* the block that has it, NO_BLOCK: a root */
	bool weak;
};

enum { CANDIDATES = 256 };

/* Targets, one after the other. */
struct edges {
	uint32_t *at;
	size_t count, room;
};

struct heap {
	struct heap_block *blocks;
	size_t count;
	uint64_t refused;
	uint64_t lo, hi; /* all blocks, and the byte behind the last */
	uint64_t bytes, max_bytes;

	struct region *regions;
	uint64_t region_mask;
	uint64_t seed; /* of this run: addresses are chosen by the host */

	struct candidate candidates[CANDIDATES];
	size_t pending;

	struct edges edges; /* of blocks, in the order of blocks */
	uint64_t *begin;    /* of each block, count + 1 of them; before
	                  * heap_judge() how many the block before has */
	struct edges roots;

	size_t scanned;    /* the words of blocks before this one have come */
	uint64_t scan_end; /* end of the heap memory that has come */
	uint32_t carry;    /* its last four bytes */

	uint8_t *reach, *role;
};

/* ---- memory --------------------------------------------------------------- */

static int
charge(struct heap *h, uint64_t bytes)
{
	if (bytes > h->max_bytes - h->bytes)
		return -E2BIG;
	h->bytes += bytes;
	return 0;
}

/* Zeroed; NULL with *err. */
static void *
take(struct heap *h, size_t count, size_t size, int *err)
{
	void *p;

	*err = charge(h, (uint64_t)count * size);
	if (*err < 0)
		return NULL;
	p = calloc(count ? count : 1, size);
	if (!p)
		*err = -ENOMEM;
	return p;
}

static int
add_edge(struct heap *h, struct edges *e, uint32_t edge)
{
	if (e->count == e->room) {
		size_t room = e->room ? e->room + e->room / 2 : FIRST_EDGES;
		uint32_t *at;
		int err = charge(h, (room - e->room) * sizeof(*at));

		if (err < 0)
			return err;
		at = realloc(e->at, room * sizeof(*at));
		if (!at)
			return -ENOMEM;
		e->at = at;
		e->room = room;
	}
	e->at[e->count++] = edge;
	return 0;
}

/* ---- blocks --------------------------------------------------------------- */

static int
by_address(const void *a, const void *b)
{
	const struct heap_block *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->birth < y->birth ? -1 : x->birth > y->birth;
}

static bool
is_sane(const struct heap_block *b)
{
	return b->address && b->address < ADDRESS_TOP &&
	    b->size <= ADDRESS_TOP - b->address;
}

/*
 * Of two blocks that overlap one was freed while they were read. The younger
 * one is there; of two of the same age the one at the lower address.
 */
static void
drop_overlaps(struct heap *h)
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

static int
take_blocks(struct heap *h, const struct heap_block *blocks, size_t count)
{
	size_t i;
	int err;

	h->blocks = take(h, count, sizeof(*h->blocks), &err);
	if (!h->blocks)
		return err;
	for (i = 0; i < count; i++) {
		if (is_sane(&blocks[i]))
			h->blocks[h->count++] = blocks[i];
		else
			h->refused++;
	}
	/* a live map is read in the order of its addresses */
	for (i = 1; i < h->count; i++) {
		if (by_address(&h->blocks[i - 1], &h->blocks[i]) > 0)
			break;
	}
	if (i < h->count)
		qsort(h->blocks, h->count, sizeof(*h->blocks), by_address);
	drop_overlaps(h);
	return 0;
}

/* ---- from an address to its block ---------------------------------------- */

static struct region *
region_at(const struct heap *h, uint64_t number)
{
	uint64_t i = hash_mix(h->seed, number);

	for (;; i++) {
		struct region *r = &h->regions[i & h->region_mask];

		if (r->number == number + 1 || !r->number)
			return r;
	}
}

/* Regions in which a block begins or through which it goes. */
static uint64_t
count_regions(const struct heap *h)
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

static int
open_region(struct heap *h, uint64_t number, struct region **ret)
{
	struct region *r = region_at(h, number);
	int err;

	*ret = r;
	if (r->number)
		return 0;
	r->first = take(h, REGION_PAGES, sizeof(*r->first), &err);
	if (!r->first)
		return err;
	memset(r->first, 0xff, REGION_PAGES * sizeof(*r->first));
	r->number = number + 1;
	return 0;
}

static int
index_blocks(struct heap *h)
{
	uint64_t regions = count_regions(h), room = 16;
	struct region *r = NULL;
	uint64_t page, last = 0;
	size_t i;
	int err;

	while (room < 2 * regions)
		room *= 2;
	h->regions = take(h, room, sizeof(*h->regions), &err);
	if (!h->regions)
		return err;
	h->region_mask = room - 1;
	for (i = 0; i < h->count; i++) {
		const struct heap_block *b = &h->blocks[i];
		/* the byte behind the block is looked up, too */
		uint64_t end = (b->address + b->size) >> PAGE_BITS;

		page = b->address >> PAGE_BITS;
		if (page <= last && i)
			page = last + 1;
		for (; page <= end; page++) {
			if (!r ||
			    r->number !=
			        (page >> (REGION_BITS - PAGE_BITS)) + 1)
				err = open_region(
				    h, page >> (REGION_BITS - PAGE_BITS), &r);
			if (err < 0)
				return err;
			r->first[page & (REGION_PAGES - 1)] = (uint32_t)i;
			last = page;
		}
	}
	return 0;
}

/* The entry of the page index for an address, NULL: no block is near. */
static const uint32_t *
first_of_page(const struct heap *h, uint64_t address)
{
	const struct region *r;

	if (address - h->lo > h->hi - h->lo)
		return NULL;
	r = region_at(h, address >> REGION_BITS);
	return r->number ? &r->first[address >> PAGE_BITS & (REGION_PAGES - 1)]
	                 : NULL;
}

/*
 * The last block that begins at or below the address, if the address is in it
 * or right behind it; else NO_BLOCK.
 */
static uint32_t
find(const struct heap *h, const uint32_t *first, uint64_t address)
{
	uint32_t i, best = NO_BLOCK;

	for (i = *first; i < h->count && h->blocks[i].address <= address; i++)
		best = i;
	if (best == NO_BLOCK ||
	    address - h->blocks[best].address > h->blocks[best].size)
		return NO_BLOCK;
	return best;
}

int64_t
heap_find(const struct heap *h, uint64_t address)
{
	const uint32_t *first = first_of_page(h, address);
	uint32_t i = first ? find(h, first, address) : NO_BLOCK;

	if (i == NO_BLOCK ||
	    address - h->blocks[i].address == h->blocks[i].size)
		return -1;
	return i;
}

/* ---- words ---------------------------------------------------------------- */

static int
add_target(struct heap *h, const struct candidate *c, uint32_t edge)
{
	if (c->source == NO_BLOCK)
		return add_edge(h, &h->roots, edge);
	h->begin[c->source + 1]++;
	return add_edge(h, &h->edges, edge);
}

static int
resolve(struct heap *h, const struct candidate *c)
{
	uint32_t i = c->first ? find(h, c->first, c->address) : NO_BLOCK;
	const struct heap_block *b;
	bool behind;
	int err;

	if (i == NO_BLOCK)
		return 0;
	b = &h->blocks[i];
	/* a block of no bytes is pointed to by its address */
	behind = b->size && c->address - b->address == b->size;
	err = add_target(h, c, i | (c->weak || behind ? WEAK : 0));
	/* right behind the one before, which nobody else may point to */
	if (err == 0 && i && b->address == c->address &&
	    b[-1].address + b[-1].size == c->address)
		err = add_target(h, c, (i - 1) | WEAK);
	return err;
}

static int
flush(struct heap *h)
{
	size_t i, n = h->pending;
	int err = 0;

	h->pending = 0;
	for (i = 0; i < n; i++) {
		struct candidate *c = &h->candidates[i];

		c->first = first_of_page(h, c->address);
		if (c->first)
			__builtin_prefetch(c->first);
	}
	for (i = 0; i < n; i++) {
		const struct candidate *c = &h->candidates[i];

		if (c->first && *c->first != NO_BLOCK) {
			const char *b = (const char *)&h->blocks[*c->first];

			__builtin_prefetch(b);
			__builtin_prefetch(b + 64);
			__builtin_prefetch(b + 128);
		}
	}
	for (i = 0; i < n && err == 0; i++)
		err = resolve(h, &h->candidates[i]);
	return err;
}

static int
note(struct heap *h, uint32_t source, uint64_t word, bool weak)
{
	uint64_t address = word & ADDRESS_MASK;

	if (address - h->lo > h->hi - h->lo)
		return 0;
	h->candidates[h->pending++] = (struct candidate){
	    .address = address, .source = source, .weak = weak};
	return h->pending == CANDIDATES ? flush(h) : 0;
}

/*
 * Most words are no pointers, and their upper half says so: bits 32 to 47 of an
 * address are few different values in all of a heap. So sixteen halves are
 * looked at together, as the upper halves of the words that begin four bytes
 * before them.
 */
typedef int32_t halves __attribute__((vector_size(16)));

enum { AT_ONCE = 64 }; /* bytes */

static bool
may_point(const struct heap *h, const unsigned char *bytes)
{
	const halves low = (halves){0} + (int32_t)(h->lo >> 32) - 1;
	const halves high = (halves){0} + (int32_t)(h->hi >> 32) + 1;
	halves any = {0};
	size_t i;

	for (i = 0; i < AT_ONCE; i += sizeof(any)) {
		halves x;

		memcpy(&x, bytes + i, sizeof(x));
		x &= 0xffff;
		any |= (x > low) & (x < high);
	}
	return any[0] | any[1] | any[2] | any[3];
}

/*
 * All words in [at, at + len) of a process, whose bytes these are. Words at a
 * multiple of eight are pointers, those at a multiple of four weak ones.
 */
static int
scan_words(struct heap *h, uint32_t source, uint64_t at,
    const unsigned char *bytes, size_t len, bool weak)
{
	size_t i = (size_t)(-at & 3), end;
	int err = 0;

	while (i + 8 <= len && err == 0) {
		/* words whose upper halves are in the next AT_ONCE bytes */
		if (i + 4 + AT_ONCE <= len) {
			end = i + AT_ONCE;
			if (!may_point(h, bytes + i + 4)) {
				i = end;
				continue;
			}
		} else {
			end = len - 7;
		}
		for (; i < end && err == 0; i += 4) {
			uint64_t word;

			memcpy(&word, bytes + i, sizeof(word));
			err = note(h, source, word, weak || ((at + i) & 4));
		}
	}
	return err;
}

/* The word of a block that lies across this memory and what came before. */
static int
scan_seam(
    struct heap *h, uint64_t address, const unsigned char *bytes, size_t len)
{
	const struct heap_block *b = &h->blocks[h->scanned];
	uint64_t word;

	if (address != h->scan_end || address % 4 || len < 4 ||
	    h->scanned == h->count || b->address + 4 > address ||
	    b->address + b->size < address + 4)
		return 0;
	word = h->carry;
	memcpy((unsigned char *)&word + 4, bytes, 4);
	return note(h, (uint32_t)h->scanned, word, (address & 4) == 0);
}

/* Heap memory is cut at blocks: what is between them points nowhere. */
static int
scan_heap(
    struct heap *h, uint64_t address, const unsigned char *bytes, size_t len)
{
	const uint64_t end = address + len;
	int err = 0;

	if (address < h->scan_end || end < address)
		return -EINVAL;
	if (len == 0)
		return 0;
	err = scan_seam(h, address, bytes, len);
	h->scan_end = end;
	if (len >= sizeof(h->carry))
		memcpy(&h->carry, bytes + len - sizeof(h->carry),
		    sizeof(h->carry));
	while (h->scanned < h->count && err == 0) {
		const struct heap_block *b = &h->blocks[h->scanned];
		uint64_t from = b->address, to = b->address + b->size;

		if (from < address)
			from = address;
		if (to > end)
			to = end;
		if (from < to)
			err = scan_words(h, (uint32_t)h->scanned, from,
			    bytes + (from - address), (size_t)(to - from),
			    false);
		if (b->address + b->size > end)
			break; /* more of it may come */
		h->scanned++;
	}
	return err;
}

int
heap_scan(struct heap *h, enum heap_part part, uint64_t address,
    const void *bytes, size_t len)
{
	if (part == HEAP_BLOCKS)
		return scan_heap(h, address, bytes, len);
	return scan_words(
	    h, NO_BLOCK, address, bytes, len, part == HEAP_WEAK_ROOT);
}

int
heap_root(struct heap *h, uint64_t word)
{
	return note(h, NO_BLOCK, word, false);
}

/* ---- judgement ------------------------------------------------------------ */

/* Marks what can be reached from *stack with `how`, by edges as strong. */
static void
mark_from(struct heap *h, uint32_t *stack, size_t n, enum heap_reach how)
{
	while (n > 0) {
		uint32_t i = stack[--n];
		uint64_t k;

		for (k = h->begin[i]; k < h->begin[i + 1]; k++) {
			uint32_t edge = h->edges.at[k];
			uint32_t target = edge & ~WEAK;

			if ((edge & WEAK && how == HEAP_HELD) ||
			    h->reach[target] != HEAP_LOST)
				continue;
			h->reach[target] = (uint8_t)how;
			stack[n++] = target;
		}
	}
}

static void
mark(struct heap *h, uint32_t *stack)
{
	size_t n = 0, i;
	uint64_t k;

	for (i = 0; i < h->roots.count; i++) {
		uint32_t target = h->roots.at[i];

		if (target & WEAK || h->reach[target] != HEAP_LOST)
			continue;
		h->reach[target] = HEAP_HELD;
		stack[n++] = target;
	}
	mark_from(h, stack, n, HEAP_HELD);
	/* then what is held by a weak pointer of a root or of a held block */
	n = 0;
	for (i = 0; i < h->roots.count; i++) {
		uint32_t target = h->roots.at[i] & ~WEAK;

		if (h->reach[target] != HEAP_LOST)
			continue;
		h->reach[target] = HEAP_POSSIBLE;
		stack[n++] = target;
	}
	for (i = 0; i < h->count; i++) {
		if (h->reach[i] != HEAP_HELD)
			continue;
		for (k = h->begin[i]; k < h->begin[i + 1]; k++) {
			uint32_t target = h->edges.at[k] & ~WEAK;

			if (h->reach[target] != HEAP_LOST)
				continue;
			h->reach[target] = HEAP_POSSIBLE;
			stack[n++] = target;
		}
	}
	mark_from(h, stack, n, HEAP_POSSIBLE);
}

/*
 * Strongly connected parts of the lost blocks, by Tarjan's way without
 * recursion. A part to which no other part points is a head: its block is
 * direct, or its blocks are a cycle; all others are held by heads. Lost blocks
 * are few, so all of this is counted by lost blocks, in the order of blocks.
 */
struct lost {
	uint32_t *number_of; /* of each block: which lost one, from 0 */
	uint32_t *block;     /* of each lost one */
	size_t count;

	uint32_t *visited; /* when, from 1; 0: not yet */
	uint32_t *low;     /* in the end: the same for all of a part */
	uint32_t *stack, *path;
	uint64_t *next; /* the edge to look at next */
	uint8_t *state; /* enum lost_state */
	size_t depth, height;
	uint32_t clock;
};

enum lost_state { LOST_NEW, LOST_OPEN, LOST_ALONE, LOST_CYCLE };

static void
enter(const struct heap *h, struct lost *t, uint32_t n)
{
	t->visited[n] = t->low[n] = ++t->clock;
	t->next[n] = h->begin[t->block[n]];
	t->stack[t->height++] = n;
	t->path[t->depth++] = n;
	t->state[n] = LOST_OPEN;
}

/* All edges of n are seen: if it is the first of its part, closes that. */
static void
leave(struct lost *t, uint32_t n)
{
	bool alone = t->stack[t->height - 1] == n;
	uint32_t m;

	if (t->low[n] != t->visited[n])
		return;
	do {
		m = t->stack[--t->height];
		t->state[m] = alone ? LOST_ALONE : LOST_CYCLE;
		t->low[m] = t->visited[n];
	} while (m != n);
}

/* The lost block at the end of edge k, UINT32_MAX: that one is not lost. */
static uint32_t
lost_target(const struct heap *h, const struct lost *t, uint64_t k)
{
	uint32_t to = h->edges.at[k] & ~WEAK;

	return h->reach[to] == HEAP_LOST ? t->number_of[to] : UINT32_MAX;
}

static void
visit(const struct heap *h, struct lost *t, uint32_t from)
{
	enter(h, t, from);
	while (t->depth > 0) {
		uint32_t n = t->path[t->depth - 1], to;
		uint64_t k = t->next[n]++;

		if (k < h->begin[t->block[n] + 1]) {
			to = lost_target(h, t, k);
			if (to == UINT32_MAX)
				continue;
			if (t->state[to] == LOST_NEW)
				enter(h, t, to);
			else if (t->state[to] == LOST_OPEN &&
			    t->low[n] > t->visited[to])
				t->low[n] = t->visited[to];
			continue;
		}
		t->depth--;
		leave(t, n);
		if (t->depth > 0 && t->state[n] == LOST_OPEN) {
			uint32_t up = t->path[t->depth - 1];

			if (t->low[up] > t->low[n])
				t->low[up] = t->low[n];
		}
	}
}

/* A part to which another one points is no head: its blocks are held. */
static void
find_heads(const struct heap *h, struct lost *t, uint8_t *pointed_at)
{
	uint32_t n, to;
	uint64_t k;

	for (n = 0; n < t->count; n++) {
		uint32_t i = t->block[n];

		for (k = h->begin[i]; k < h->begin[i + 1]; k++) {
			to = lost_target(h, t, k);
			if (to != UINT32_MAX && t->low[to] != t->low[n])
				pointed_at[t->low[to]] = 1;
		}
	}
	for (n = 0; n < t->count; n++) {
		enum heap_role role =
		    t->state[n] == LOST_CYCLE ? HEAP_CYCLE : HEAP_DIRECT;

		h->role[t->block[n]] =
		    (uint8_t)(pointed_at[t->low[n]] ? HEAP_INDIRECT : role);
	}
}

static void
release_lost(struct lost *t)
{
	free(t->number_of);
	free(t->block);
	free(t->visited);
	free(t->low);
	free(t->stack);
	free(t->path);
	free(t->next);
	free(t->state);
}

static int
open_lost(struct heap *h, struct lost *t)
{
	size_t i, n = t->count + 1; /* the clock begins with 1 */
	int err;

	t->number_of = take(h, h->count, sizeof(*t->number_of), &err);
	if (err == 0)
		t->block = take(h, n, sizeof(*t->block), &err);
	if (err == 0)
		t->visited = take(h, n, sizeof(*t->visited), &err);
	if (err == 0)
		t->low = take(h, n, sizeof(*t->low), &err);
	if (err == 0)
		t->stack = take(h, n, sizeof(*t->stack), &err);
	if (err == 0)
		t->path = take(h, n, sizeof(*t->path), &err);
	if (err == 0)
		t->next = take(h, n, sizeof(*t->next), &err);
	if (err == 0)
		t->state = take(h, n, sizeof(*t->state), &err);
	if (err < 0)
		return err;
	for (i = n = 0; i < h->count; i++) {
		if (h->reach[i] != HEAP_LOST)
			continue;
		t->number_of[i] = (uint32_t)n;
		t->block[n++] = (uint32_t)i;
	}
	return 0;
}

static int
find_roles(struct heap *h, size_t count)
{
	struct lost t = {.count = count};
	uint64_t before = h->bytes;
	uint8_t *pointed_at = NULL;
	uint32_t n;
	int err = open_lost(h, &t);

	if (err == 0)
		pointed_at = take(h, count + 1, 1, &err);
	for (n = 0; err == 0 && n < count; n++) {
		if (t.state[n] == LOST_NEW)
			visit(h, &t, n);
	}
	if (err == 0)
		find_heads(h, &t, pointed_at);
	free(pointed_at);
	release_lost(&t);
	h->bytes = before;
	return err;
}

int
heap_judge(struct heap *h)
{
	uint64_t before = h->bytes;
	uint32_t *stack;
	size_t i, lost = 0;
	int err;

	err = flush(h);
	if (err < 0)
		return err;
	for (i = 0; i < h->count; i++)
		h->begin[i + 1] += h->begin[i];
	memset(h->reach, HEAP_LOST, h->count);
	memset(h->role, HEAP_NONE, h->count);
	stack = take(h, h->count, sizeof(*stack), &err);
	if (!stack)
		return err;
	mark(h, stack);
	free(stack);
	h->bytes = before;
	for (i = 0; i < h->count; i++)
		lost += h->reach[i] == HEAP_LOST;
	return lost ? find_roles(h, lost) : 0;
}

enum heap_reach
heap_reach(const struct heap *h, size_t i)
{
	return (enum heap_reach)h->reach[i];
}

enum heap_role
heap_role(const struct heap *h, size_t i)
{
	return (enum heap_role)h->role[i];
}

void
heap_each_target(const struct heap *h, size_t i, bool weak,
    void (*visit_one)(size_t target, void *context), void *context)
{
	uint64_t k;

	for (k = h->begin[i]; k < h->begin[i + 1]; k++) {
		uint32_t edge = h->edges.at[k];

		if (weak || !(edge & WEAK))
			visit_one(edge & ~WEAK, context);
	}
}

/* ---- life ----------------------------------------------------------------- */

int
heap_new(const struct heap_block *blocks, size_t count, uint64_t max_bytes,
    struct heap **ret)
{
	struct heap *h;
	int err;

	if (count > BLOCKS_MAX)
		return -EOVERFLOW;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->max_bytes = max_bytes;
	h->seed = dict_hash(1, 0, 0);
	err = take_blocks(h, blocks, count);
	if (err == 0 && h->count) {
		const struct heap_block *last = &h->blocks[h->count - 1];

		h->lo = h->blocks[0].address;
		h->hi = last->address + last->size;
	} else {
		h->lo = h->hi = ADDRESS_TOP; /* no address is there */
	}
	if (err == 0)
		err = index_blocks(h);
	if (err == 0)
		h->begin = take(h, h->count + 1, sizeof(*h->begin), &err);
	if (err == 0)
		h->reach = take(h, h->count, 1, &err);
	if (err == 0)
		h->role = take(h, h->count, 1, &err);
	if (err < 0) {
		heap_free(h);
		return err;
	}
	*ret = h;
	return 0;
}

void
heap_free(struct heap *h)
{
	uint64_t i;

	if (!h)
		return;
	for (i = 0; h->regions && i <= h->region_mask; i++)
		free(h->regions[i].first);
	free(h->regions);
	free(h->blocks);
	free(h->edges.at);
	free(h->roots.at);
	free(h->begin);
	free(h->reach);
	free(h->role);
	free(h);
}

size_t
heap_count(const struct heap *h)
{
	return h->count;
}

const struct heap_block *
heap_blocks(const struct heap *h)
{
	return h->blocks;
}

uint64_t
heap_refused(const struct heap *h)
{
	return h->refused;
}

uint64_t
heap_bytes(const struct heap *h)
{
	return h->bytes;
}

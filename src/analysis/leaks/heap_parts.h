/* heap_parts.h - what the files of heap.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HEAP_PARTS_H
#define SEEP_HEAP_PARTS_H

#include "analysis/leaks/heap.h"

/*
 * An edge is the index of the block that is pointed to, and above it the kind
 * of the pointer: enum heap_weak, or HEAP_AT_SEAM.
 */
enum {
	HEAP_INDEX_BITS = 29,
	HEAP_AT_SEAM = 7, /* certain; and right behind the block before */
	HEAP_WORDS = 32,
};

#define HEAP_BLOCKS_MAX ((UINT32_C(1) << HEAP_INDEX_BITS) - 1)
#define HEAP_NO_BLOCK   UINT32_MAX

/*
 * What is needed to find a block, in a third of its size, because most of the
 * time of a look goes into loads of these: 48 bits of address, 16 of the size,
 * or HEAP_KEY_LARGE.
 */
#define HEAP_KEY_LARGE UINT64_C(0xffff)

static inline uint64_t heap_key(const struct heap_block *b)
{
	return b->address << 16 | (b->size < HEAP_KEY_LARGE ? b->size : HEAP_KEY_LARGE);
}

static inline uint64_t heap_key_address(uint64_t key)
{
	return key >> 16;
}

static inline uint32_t heap_edge(uint32_t index, unsigned kind)
{
	return index | (uint32_t)kind << HEAP_INDEX_BITS;
}

static inline uint32_t heap_edge_to(uint32_t edge)
{
	return edge & HEAP_BLOCKS_MAX;
}

static inline unsigned heap_edge_kind(uint32_t edge)
{
	return edge >> HEAP_INDEX_BITS;
}

static inline bool heap_edge_is_weak(uint32_t edge)
{
	unsigned kind = heap_edge_kind(edge);

	return kind != HEAP_CERTAIN && kind != HEAP_AT_SEAM;
}

/*
 * For each page of a region the first block that ends behind the page's
 * beginning. A region is found by hash: heaps are few ranges, far apart.
 */
struct heap_region {
	uint64_t number;   /* of 2 MiB, plus 1; 0: free */
	uint32_t *first;   /* by page; NULL: all of it is inside of one block */
	uint32_t whole[2]; /* that block, and HEAP_NO_BLOCK */
};

/* Where the block of an address may be. */
struct heap_span {
	uint32_t low, last; /* indexes of blocks, both included */
	uint32_t guess;     /* one of them */
};

/*
 * A word that may be a pointer. Words are looked up many at a time, in three
 * rounds that each ask for the memory that the next one needs: a heap is larger
 * than any cache, and one look-up after the other would wait for memory three
 * times each.
 */
struct heap_word {
	uint64_t address;
	const uint32_t *first; /* of its page, NULL: there is no block */
	struct heap_span span;
	uint32_t source; /* the block that has it, HEAP_NO_BLOCK: a root */
	uint8_t weak;    /* enum heap_weak */
};

/* Targets, one after the other. */
struct heap_edges {
	uint32_t *at;
	size_t count, room;
};

struct heap {
	struct heap_block *blocks;
	uint64_t *keys; /* heap_key() of each, for finding them */
	size_t count;
	uint64_t refused;
	uint64_t lo, hi; /* all blocks, and the byte behind the last */
	uint64_t bytes, max_bytes;

	struct heap_region *regions;
	uint64_t region_mask;
	uint64_t seed; /* of this run: addresses are chosen by the host */

	struct heap_word words[HEAP_WORDS];
	size_t pending;

	heap_missed *missed; /* see heap_watch(); or NULL */
	void *context;

	struct heap_edges edges; /* of blocks, in the order of blocks */
	uint64_t *begin;         /* of each block, count + 1 of them; before
	                  * heap_judge() how many the block before has */
	struct heap_edges roots;

	size_t scanned;    /* the words of blocks before this one have come */
	uint64_t scan_end; /* end of the heap memory that has come */
	uint32_t carry;    /* its last four bytes */

	uint8_t *reach;
	uint8_t *detail; /* role of a lost one, weak kind of a possible one */
	uint8_t *taken;  /* a bit for each block: see heap_note_other(); or NULL */
};

static inline uint64_t heap_key_size(const struct heap *h, size_t i)
{
	uint64_t size = h->keys[i] & HEAP_KEY_LARGE;

	return size == HEAP_KEY_LARGE ? h->blocks[i].size : size;
}

/* Does a block that is not in the heap begin right behind this one? */
static inline bool heap_end_is_taken(const struct heap *h, uint32_t i)
{
	return h->taken && h->taken[i / 8] >> i % 8 & 1;
}

/* Zeroed; NULL with *err. Counted against the bound of this heap. */
void *heap_take(struct heap *h, size_t count, size_t size, int *err);

/* What was taken and freed again. */
void heap_give(struct heap *h, uint64_t bytes);

int heap_add_edge(struct heap *h, struct heap_edges *e, uint32_t edge);

#endif

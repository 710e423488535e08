/* heap_find.h - from an address to its block. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HEAP_FIND_H
#define SEEP_HEAP_FIND_H

#include "base/hash.h"
#include "analysis/leaks/heap_parts.h"

/*
 * All of this is inline: a look does it for every word that may be a pointer,
 * several million times.
 */
enum {
	HEAP_REGION_BITS = 21, /* 2 MiB: what one entry of the index covers */
	HEAP_PAGE_BITS = 12,
	HEAP_REGION_PAGES = 1 << (HEAP_REGION_BITS - HEAP_PAGE_BITS),
};

/* The slot of a region, which is free if there is none. */
static inline struct heap_region *heap_region_at(const struct heap *h, uint64_t number)
{
	uint64_t i = hash_mix(h->seed, number);

	for (;; i++) {
		struct heap_region *r = &h->regions[i & h->region_mask];

		if (r->number == number + 1 || !r->number)
			return r;
	}
}

/* The entry of the page index for an address, NULL: no block is near. */
static inline const uint32_t *heap_first_of_page(const struct heap *h, uint64_t address)
{
	const struct heap_region *r;

	if (address - h->lo > h->hi - h->lo)
		return NULL;
	r = heap_region_at(h, address >> HEAP_REGION_BITS);
	if (!r->number)
		return NULL;
	return r->first ? &r->first[address >> HEAP_PAGE_BITS & (HEAP_REGION_PAGES - 1)] : r->whole;
}

/* The blocks among which the one for an address is; false: there is none. */
static inline bool heap_span_of_page(
    const struct heap *h, const uint32_t *first, uint64_t address, struct heap_span *ret)
{
	uint64_t inside = address & ((1 << HEAP_PAGE_BITS) - 1);
	size_t last;

	if (first[0] == HEAP_NO_BLOCK)
		return false;
	/* where the next page is in the same table, its first one is the last
	 * that may begin in this one */
	last = (size_t)first[0] + (1 << HEAP_PAGE_BITS);
	if ((address >> HEAP_PAGE_BITS & (HEAP_REGION_PAGES - 1)) != HEAP_REGION_PAGES - 1 &&
	    first[1] != HEAP_NO_BLOCK)
		last = first[1];
	if (last >= h->count)
		last = h->count - 1;
	ret->low = first[0];
	ret->last = (uint32_t)last;
	/* blocks of one page are often of one size */
	ret->guess = first[0] + (uint32_t)(inside * (last - first[0]) >> HEAP_PAGE_BITS);
	return true;
}

/*
 * The last block that begins at or below the address, if the address is in it
 * or right behind it; else HEAP_NO_BLOCK.
 */
static inline uint32_t heap_find_in(
    const struct heap *h, const struct heap_span *span, uint64_t address)
{
	enum { STEPS = 8 };
	const uint64_t *k = h->keys;
	/* a key below this one is of a block at or below the address */
	const uint64_t above = (address + 1) << 16;
	size_t low = span->low, last = span->last, i = span->guess;

	/* nearly always it is the guess or a neighbour of it: without a
	 * branch, which could not be foreseen */
	i += (i < last) & (k[i + (i < last)] < above);
	i -= (i > low) & (k[i] >= above);
	for (int n = 0; n < STEPS && i > low && k[i] >= above; n++)
		i--;
	for (int n = 0; n < STEPS && i < last && k[i + 1] < above; n++)
		i++;
	if (k[i] >= above || (i < last && k[i + 1] < above)) {
		/* far from the guess: by halves */
		size_t high = last + 1;

		if (k[low] >= above)
			return HEAP_NO_BLOCK;
		for (i = low; i + 1 < high;) {
			size_t mid = i + (high - i) / 2;

			if (k[mid] >= above)
				high = mid;
			else
				i = mid;
		}
	}
	if (address - heap_key_address(k[i]) > heap_key_size(h, i))
		return HEAP_NO_BLOCK;
	return (uint32_t)i;
}

#endif

/* seg_mapped.h - the table of the host's own mappings, for collector and reader. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEG_MAPPED_H
#define SEEP_SEG_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A tree over the numbers of pages, in private memory of the host; its root is
 * at header.mapped_root. An entry is 0, or the address of a node with bit 0 set,
 * or a leaf: all pages below this entry belong to one range of one site. So a
 * large mapping takes few entries, and a small one takes one for each page.
 *
 *   root   2^11 entries, each for 2^24 pages
 *   nodes  2^6 entries; the four levels have entries for 2^18, 2^12, 2^6 pages
 *          and for 1 page
 *
 * Leaf: site id (26 bits, top), birth in ticks (31 bits, from bit 7 on), bit 1
 * set in the entry with which a range begins.
 */
enum {
	MAPPED_PAGE_BITS = 12,
	MAPPED_ROOT_BITS = 11,
	MAPPED_NODE_BITS = 6,
	MAPPED_TOP_SHIFT = 24, /* log2 of pages of an entry of the root */
	MAPPED_SITE_SHIFT = 38,
	MAPPED_BIRTH_SHIFT = 7,
};

#define MAPPED_IS_NODE    UINT64_C(1)
#define MAPPED_STARTS     UINT64_C(2)
#define MAPPED_BIRTH_MASK UINT64_C(0x7fffffff)
#define MAPPED_PAGES      (UINT64_C(1) << (MAPPED_ROOT_BITS + MAPPED_TOP_SHIFT))

static inline uint32_t mapped_site(uint64_t leaf)
{
	return (uint32_t)(leaf >> MAPPED_SITE_SHIFT);
}

static inline uint32_t mapped_birth(uint64_t leaf)
{
	return (uint32_t)(leaf >> MAPPED_BIRTH_SHIFT & MAPPED_BIRTH_MASK);
}

static inline uint64_t mapped_leaf(uint32_t site, uint32_t birth)
{
	return (uint64_t)site << MAPPED_SITE_SHIFT |
	    (birth & MAPPED_BIRTH_MASK) << MAPPED_BIRTH_SHIFT;
}

/* Does the range of this leaf go on in the next one? */
static inline bool mapped_goes_on(uint64_t leaf, uint64_t next)
{
	return next && !(next & (MAPPED_STARTS | MAPPED_IS_NODE)) &&
	    (leaf & ~MAPPED_STARTS) == next;
}

#endif

/* site_info.c - figures of sites that few sites need. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/heap/site_info.h"

#include "collector/segment/mem.h"

struct segment_table site_info_table;
uint32_t **site_info_leaves; /* numbers of records, from 1 on; 0: none */
uint32_t site_info_first;
static uint32_t count;       /* records that were made */
static uint32_t leaves_high; /* leaves at and above it were never opened */

_Static_assert(SITES_MAX % (1u << SITE_INFO_LEAF_BITS) == 0, "whole leaves");

/* NULL: no memory. */
static uint32_t *open_leaf(uint32_t i)
{
	uint32_t *leaf = LOAD_ACQUIRE(&site_info_leaves[i]);

	if (likely(leaf))
		return leaf;
	RAISE(&leaves_high, i + 1);
	return mem_publish(&site_info_leaves[i], sizeof(*leaf) << SITE_INFO_LEAF_BITS);
}

bool site_info_init(uint32_t first_id)
{
	uint32_t i;

	site_info_first = first_id;
	count = 0;
	if (!site_info_leaves)
		site_info_leaves = mem_alloc(SITE_INFO_LEAVES * sizeof(*site_info_leaves));
	if (!site_info_leaves)
		return false;
	/* those of a parent stay unused: to clear them would copy their pages */
	for (i = 0; i < leaves_high; i++)
		site_info_leaves[i] = NULL;
	leaves_high = 0;
	return segment_table_init(
	    &site_info_table, SEG_EXT_SITE_INFO, 0, sizeof(struct seg_info), 0, SITES_MAX);
}

void site_info_expect(uint32_t site)
{
	const uint32_t i = site - site_info_first;

	if (i < SITES_MAX)
		(void)open_leaf(i >> SITE_INFO_LEAF_BITS);
}

/* A record that no site has. NULL: no room. */
static struct seg_info *new_record(uint32_t *ret_number)
{
	uint32_t n = LOAD(&count), next;
	struct seg_info *info;

	do {
		if (n >= SITES_MAX)
			return NULL;
	} while (!CAS(&count, &n, n + 1));
	next = n + 1;
	info = segment_table_row(&site_info_table, n);
	if (!info)
		CAS(&count, &next, n);
	*ret_number = n + 1;
	return info;
}

SEEP_COLD struct seg_info *site_info_get(uint32_t site)
{
	const uint32_t i = site - site_info_first;
	struct seg_info *info = site_info_peek(site);
	uint32_t *leaf, *place, none = 0, number;

	if (info || i >= SITES_MAX)
		return info;
	leaf = open_leaf(i >> SITE_INFO_LEAF_BITS);
	info = leaf ? new_record(&number) : NULL;
	if (!info)
		return NULL;
	/* a reader that does not know such records refuses the segment */
	RAISE(&segment.header->version, SEG_VERSION_INFOS);
	STORE_RELEASE(&info->site, site);
	place = &leaf[i & ((1u << SITE_INFO_LEAF_BITS) - 1)];
	return CAS(place, &none, number) ? info : segment_table_row(&site_info_table, none - 1);
}

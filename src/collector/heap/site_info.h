/* site_info.h - figures of sites that few sites need. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SITE_INFO_H
#define SEEP_SITE_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"

/*
 * A record is large, and of a compiler's 30,000 sites one in twenty needs it. So
 * records lie one after the other in the order of their first use, each with the
 * id of its site, and private memory says which one a site has. If two threads
 * make one at once, or a signal handler leaves by longjmp in between, a site has
 * two records, and a reader adds them up.
 *
 * Lock-free; a signal handler may call everything here but site_info_init().
 */
enum { SITE_INFO_LEAF_BITS = 10, SITE_INFO_LEAVES = SITES_MAX >> SITE_INFO_LEAF_BITS };

extern SEEP_HIDDEN struct segment_table site_info_table;
extern SEEP_HIDDEN uint32_t **site_info_leaves;
extern SEEP_HIDDEN uint32_t site_info_first; /* id of the first site */

/* Again in a forked child. False: no memory. */
bool site_info_init(uint32_t first_id);

/* The record of a site; NULL if it has none. */
SEEP_INLINE struct seg_info *site_info_peek(uint32_t site)
{
	const uint32_t i = site - site_info_first;
	uint32_t *leaf, number;

	if (unlikely(i >= SITES_MAX))
		return NULL;
	leaf = LOAD_ACQUIRE(&site_info_leaves[i >> SITE_INFO_LEAF_BITS]);
	if (unlikely(!leaf))
		return NULL;
	number = LOAD_ACQUIRE(&leaf[i & ((1u << SITE_INFO_LEAF_BITS) - 1)]);
	return number ? segment_table_row(&site_info_table, number - 1) : NULL;
}

/*
 * A counter of this site is opened, so the kernel may be asked for memory now. It
 * may not be when the first free of the site looks for its record: that would end
 * a host in seccomp's strict mode.
 */
void site_info_expect(uint32_t site);

/* The same as site_info_peek(); makes one if it has none. NULL: no room. */
struct seg_info *site_info_get(uint32_t site);

#endif

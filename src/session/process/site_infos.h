/* site_site_infos.h - figures of sites that few sites have. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SITE_INFOS_H
#define SEEP_SITE_INFOS_H

#include "segments/read/extents.h"

/* Rows of SEG_EXT_SITE_INFO by site, and those of older segments. */
struct infos {
	struct extents older;
	struct info_place *places; /* sorted by site */
	size_t count;
};

/* Borrows from the segment. -ENOMEM. */
int site_infos_init(struct infos *s, const struct segment *seg);
void site_infos_release(struct infos *s);

/*
 * The next record of a site; *at is 0 at first. A site usually has one, or none.
 * False: that was the last one.
 */
bool site_infos_next(const struct infos *s, uint32_t site, size_t *at, struct seg_info *ret);

#endif

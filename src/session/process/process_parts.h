/* process_parts.h - what the files of process.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCESS_PARTS_H
#define SEEP_PROCESS_PARTS_H

#include "segments/blocks/live_map.h"
#include "segments/read/extent_list.h"
#include "segments/read/segment_copy.h"
#include "session/process/process.h"

/*
 * Fills sites, ids, pools and the stacks of a process from the sums of its
 * ledger: ids with the same stack become one site. -ENOMEM.
 */
int process_make_sites(struct process *p, const struct segment *seg, const struct sums *sums);

/* Fills modules, inherited frees and marks. -ENOMEM. */
int process_make_tables(struct process *p, const struct segment *seg);

/* ---- site_infos: figures of sites that few sites have ---- */

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

/* ---- young: deaths below SEG_YOUNG_TICKS, by age and site ---- */

/* The arrays of SEG_EXT_AGES added up, by position in the ledger's sums. */
struct young {
	uint64_t (*deaths)[SEG_AGE_STEPS]; /* NULL: the segment has none */
};

/* -ENOMEM. */
int young_init(struct young *y, const struct segment *seg, const struct sums *sums);
void young_release(struct young *y);

#endif

/* young.h - deaths below SEG_YOUNG_TICKS, by age and site. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_YOUNG_H
#define SEEP_YOUNG_H

#include "segments/blocks/sums.h"
#include "segments/read/segment_copy.h"

/* The arrays of SEG_EXT_AGES added up, by position in the ledger's sums. */
struct young {
	uint64_t (*deaths)[SEG_AGE_STEPS]; /* NULL: the segment has none */
};

/* -ENOMEM. */
int young_init(struct young *y, const struct segment *seg, const struct sums *sums);
void young_release(struct young *y);

#endif

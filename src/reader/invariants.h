/* invariants.h - what must hold in every segment, whoever wrote it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_INVARIANTS_H
#define SEEP_READER_INVARIANTS_H

#include "reader/sums.h"
#include "reader/extents.h"

/*
 * Figures that cannot be are shown as they are, but not silently:
 *   frees <= allocations, freed <= allocated bytes, in every site
 *   no block is live: no byte is live (of a process that has exited)
 *   a site has an id from first_id on, and its stack is in the tables
 *   the peak is no more than all that was ever allocated (exited)
 * Returns 0, or -EBADMSG and in *ret_doubt one sentence: how many are broken,
 * and the first of them. What a killed thread, or one that jumped out of a
 * hook, leaves half done is no fault and not told.
 */
int invariants_check(const struct segment *seg, const struct sums *sums,
    const struct extents *sites, struct fault *ret_doubt);

#endif

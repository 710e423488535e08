/* invariants.h - checks relations that must hold in every segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INVARIANTS_H
#define SEEP_INVARIANTS_H

#include "segments/blocks/sums.h"
#include "segments/read/extents.h"

/*
 * Impossible figures are shown as they are, with a note. These relations must
 * hold:
 *   in every site, frees <= allocations and freed bytes <= allocated bytes
 *   a site without live blocks has no live bytes (if the process has exited)
 *   every site has an id >= first_id, and its stack is in the tables
 *   the peak is at most the sum of all allocations (if the process has exited)
 * Returns 0, or -EBADMSG and in *ret_doubt one sentence: how many relations do
 * not hold, and the first of them. A thread that was killed, or that jumped out
 * of a hook, leaves one event half done. That is tolerated, and not reported.
 */
int invariants_check(const struct segment *seg, const struct sums *sums,
    const struct extents *sites, struct fault *ret_doubt);

#endif

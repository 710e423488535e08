/* cross_check.h - checks of a process: map against ledger, relations of a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CROSS_CHECK_H
#define SEEP_CROSS_CHECK_H

#include "base/std.h"
#include "segments/blocks/live_map.h"
#include "segments/read/extent_list.h"
#include "segments/read/segfile.h"

enum cross_check {
	CROSS_CHECK_UNKNOWN, /* there is no live map, or we may not read it */
	CROSS_CHECK_YES,
	CROSS_CHECK_PARTLY, /* they agree as far as the map could be read */
	CROSS_CHECK_NO,
};

/*
 * For a process that has ended by exit(). Its destructor has counted the live
 * blocks of each site (SEG_EXT_LIVE), and has noted how many events the ledger
 * had at that time. Each later event may change one block of one site, and no
 * more.
 */
enum cross_check cross_check_ended(const struct segment *seg, const struct sums *sums,
    const struct extents *sites, struct fault *ret_doubt);

/*
 * For a running process. Reads the ledger, then the live map in its memory,
 * then the ledger again. The count of a site in the map lies between
 * (allocations before - frees after) and (allocations after - frees before),
 * which is one number if nothing happened at the site. Beyond that, each thread
 * may have one event half done. `seg` is the ledger before; the process has it
 * in this slot. -ENOMEM, or 0.
 * The texts of `words` are empty before. One of them is filled if the answer is
 * CROSS_CHECK_NO, or CROSS_CHECK_UNKNOWN because the process makes its reader
 * wait.
 */
struct cross_check_words {
	struct fault doubt;  /* where the two differ */
	struct fault unread; /* why the memory could not be read */
};
int cross_check_running(const struct segment *seg, const struct segfile *f, int slot, pid_t pid,
    enum cross_check *ret, struct cross_check_words *words);

/* ---- invariants: checks relations that must hold in every segment ---- */

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

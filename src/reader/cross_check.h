/* cross_check.h - do the live map and the ledger of a process say the same? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_CROSS_CHECK_H
#define SEEP_READER_CROSS_CHECK_H

#include <sys/types.h>

#include "reader/sums.h"
#include "reader/extents.h"
#include "reader/segfile.h"

enum cross_check {
	CROSS_CHECK_UNKNOWN, /* no live map to be had, or we may not look */
	CROSS_CHECK_YES,
	CROSS_CHECK_PARTLY, /* as far as it could be read */
	CROSS_CHECK_NO,
};

/*
 * A process that has ended by exit(): its destructor has counted the living
 * blocks of each site (SEG_EXT_LIVE) and told how many events the ledger had
 * by then. Each later event may change one block of one site, no more.
 */
enum cross_check cross_check_ended(const struct segment *seg,
    const struct sums *sums, const struct extents *sites,
    struct fault *ret_doubt);

/*
 * A process that runs: the ledger, then the live map in its memory, then the
 * ledger again. What a site has in the map lies between (allocations before -
 * frees after) and (allocations after - frees before), which is one number for
 * a site where nothing happened; beyond that each thread may have one event
 * half done. seg is the ledger before; the process has it in this slot.
 * -ENOMEM, or 0. words, whose texts are empty, get one with CROSS_CHECK_NO, or with
 * CROSS_CHECK_UNKNOWN where a process makes its reader wait.
 */
struct agree_words {
	struct fault doubt;  /* where the two differ */
	struct fault unread; /* why the memory could not be read */
};
int cross_check_running(const struct segment *seg, const struct segfile *f,
    int slot, pid_t pid, enum cross_check *ret, struct agree_words *words);

#endif

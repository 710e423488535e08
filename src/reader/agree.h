/* agree.h - do the live map and the ledger of a process say the same? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_AGREE_H
#define SEEP_READER_AGREE_H

#include <sys/types.h>

#include "reader/ledger.h"
#include "reader/rows.h"
#include "reader/segfile.h"

enum agree {
	AGREE_UNKNOWN, /* no live map to be had, or we may not look */
	AGREE_YES,
	AGREE_PARTLY, /* as far as it could be read */
	AGREE_NO,
};

/*
 * A process that has ended by exit(): its destructor has counted the living
 * blocks of each site (SEG_EXT_LIVE) and told how many events the ledger had
 * by then. Each later event may change one block of one site, no more.
 */
enum agree agree_ended(const struct segment *seg, const struct ledger *sums,
    const struct rows *sites, struct fault *ret_doubt);

/*
 * A process that runs: the ledger, then the live map in its memory, then the
 * ledger again. What a site has in the map lies between (allocations before -
 * frees after) and (allocations after - frees before), which is one number for
 * a site where nothing happened; beyond that each thread may have one event
 * half done. seg is the ledger before; the process has it in this slot.
 * -ENOMEM, or 0. words, whose texts are empty, get one with AGREE_NO, or with
 * AGREE_UNKNOWN where a process makes its reader wait.
 */
struct agree_words {
	struct fault doubt;  /* where the two differ */
	struct fault unread; /* why the memory could not be read */
};
int agree_running(const struct segment *seg, const struct segfile *f, int slot,
    pid_t pid, enum agree *ret, struct agree_words *words);

#endif

/* live_ages.h - ages and sizes of the live blocks in a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIVE_AGES_H
#define SEEP_LIVE_AGES_H

#include "session/process/process.h"

/*
 * Fills the ages of p's sites from the memory of the process, which runs as
 * p->running_pid; if we may not read it, they stay as they are. The sums differ
 * from the ledger's by what it allocates and frees meanwhile. -ENOMEM.
 */
int live_ages_read(struct process *p);

/*
 * The same, however long it takes. Negative errno if not all blocks could be
 * read: -ENODATA, or as of live_map_read().
 */
int live_ages_read_whole(struct process *p);

/* Of one site: blocks older than an age, and all blocks that were seen. */
struct live_ages_old {
	uint64_t blocks, bytes, all_blocks;
};

/*
 * Reads a running process again: fills ret, one entry for each of p's sites,
 * with the blocks older than so many ticks. Negative errno if we may not read
 * it, or if some of its blocks or sizes cannot be read (-ENODATA).
 */
int live_ages_older(const struct process *p, uint32_t ticks, struct live_ages_old *ret);

#endif

/* live_ages.h - ages and sizes of what lives in a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_LIVE_AGES_H
#define SEEP_READER_LIVE_AGES_H

#include "reader/process.h"

/*
 * Fills the ages of p's sites from the memory of the process, which runs as
 * p->running_pid; where we may not look they stay as they are. What it
 * allocates and frees meanwhile makes sums differ from the ledger's. -ENOMEM.
 */
int live_ages_read(struct process *p);

/* Of one site: blocks that are older than an age, and all that were seen. */
struct live_ages_old {
	uint64_t blocks, bytes, all_blocks;
};

/*
 * Looks again, at a process that runs: fills ret, one for each of p's sites,
 * with the blocks that are older than so many ticks. Negative errno, where we
 * may not look, or where some of its blocks or sizes cannot be seen (-ENODATA).
 */
int live_ages_older(
    const struct process *p, uint32_t ticks, struct live_ages_old *ret);

#endif

/* living.h - ages and sizes of what lives in a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_LIVING_H
#define SEEP_READER_LIVING_H

#include "reader/process.h"

/*
 * Fills the ages of p's sites from the memory of the process, which runs as
 * p->alive_pid; where we may not look they stay as they are. What it
 * allocates and frees meanwhile makes sums differ from the ledger's. -ENOMEM.
 */
int living_read(struct process *p);

/* Of one site: blocks that are older than an age, and all that were seen. */
struct living_old {
	uint64_t blocks, bytes, all_blocks;
};

/*
 * Looks again, at a process that runs: fills ret, one for each of p's sites,
 * with the blocks that are older than so many ticks. Negative errno, where we
 * may not look, or where some of its blocks or sizes cannot be seen (-ENODATA).
 */
int living_older(
    const struct process *p, uint32_t ticks, struct living_old *ret);

#endif

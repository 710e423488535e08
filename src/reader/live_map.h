/* live_map.h - the blocks of a running process, counted by site in its memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_LIVE_MAP_H
#define SEEP_READER_LIVE_MAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "util/fault.h"
#include "reader/sums.h"

/*
 * The process runs on meanwhile: a block counts if its cell was set at the
 * moment it was read. Pages that the process has never touched, or that are
 * swapped out, are not read: looking costs it no memory.
 */
struct live_map_block {
	/* where it begins; unless live_map.is_exact: perhaps 16 bytes on */
	uint64_t address;
	uint32_t site;
	uint32_t birth; /* tick; of an inherited one on the parent's clock */
	uint64_t size;
	bool size_known;
	bool is_inherited; /* allocated by the parent: its site is there */
};

struct live_map {
	/* called for each block, if it is not NULL; true: go on */
	bool (*each)(const struct live_map_block *b, void *arg);
	void *arg;
	bool wants_inherited; /* each() gets these blocks, too */
	bool is_list;         /* each() is all that is wanted: no counts */
	uint32_t since; /* blocks that were born before this tick are skipped */
	/* of the blocks of its own; allocations: blocks */
	struct sums counts;
	bool is_exact;    /* the addresses are; else an older collector runs */
	bool is_partial;  /* blocks may be missing: time, swap, room */
	bool bytes_known; /* else the bytes of some block were not seen */
	struct fault why; /* after a failure, where it has words */
};

/*
 * Reads for about budget_ns; UINT64_MAX: to the end. Negative errno: nothing is known (-EPERM: we may
 * not look; -ENOTSUP: not a live map of ours; -ESRCH, -EFAULT: gone while we
 * looked; -ETIMEDOUT: its memory does not come, see foreign.h). m, zero but for
 * its first five fields, is for live_map_release() in any case. -ENOMEM also where `each` wants no more.
 */
int live_map_read(struct live_map *m, pid_t pid, const struct seg_header *h,
    uint64_t budget_ns);
void live_map_release(struct live_map *m);

#endif

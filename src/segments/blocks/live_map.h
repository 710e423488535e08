/* live_map.h - finds the blocks of a running process in its memory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIVE_MAP_H
#define SEEP_LIVE_MAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "kit/os/fault.h"
#include "host/memory/foreign.h"
#include "segments/blocks/sums.h"

/*
 * The process runs meanwhile: a block counts if its cell was set when it was
 * read. Pages that the process has never touched, or that are swapped out, are
 * not read, so this costs the process no memory.
 */
struct live_map_block {
	/* where it begins; if not live_map.is_exact, maybe 16 bytes further */
	uint64_t address;
	uint32_t site;
	uint32_t birth; /* tick; of an inherited one on the parent's clock */
	uint64_t size;
	bool size_known;
	bool is_inherited; /* allocated by the parent: its site is there */
};

struct live_map {
	/* called for each block, unless it is NULL; true: go on */
	bool (*each)(const struct live_map_block *b, void *arg);
	void *arg;
	struct foreign *memory; /* of the process; NULL: it is opened */
	bool wants_inherited;   /* each() also gets inherited blocks */
	bool is_list;           /* each() is all that is wanted: no counts */
	/* of the blocks of its own; allocations: blocks */
	struct sums counts;
	bool is_exact;    /* addresses are exact; false: an older collector */
	bool is_partial;  /* blocks may be missing: no time, swap, no room */
	bool bytes_known; /* false: the size of some block was not read */
	struct fault why; /* after a failure: a sentence, if there is one */
};

/*
 * Reads for about budget_ns; UINT64_MAX: to the end. Negative errno: nothing is
 * known (-EPERM: we may not read it; -ENOTSUP: not a live map that we know;
 * -ESRCH, -EFAULT: it ended meanwhile; -ETIMEDOUT: reading its memory takes too
 * long, see foreign.h; -ENOMEM: also if `each` returned false). m is zero but
 * for its first five fields; the caller calls live_map_release() in any case.
 */
int live_map_read(struct live_map *m, pid_t pid, const struct seg_header *h, uint64_t budget_ns);
void live_map_release(struct live_map *m);

#endif

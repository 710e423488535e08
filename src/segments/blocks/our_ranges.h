/* our_ranges.h - memory and blocks of a running process that do not count. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OUR_RANGES_H
#define SEEP_OUR_RANGES_H

#include "base/std.h"
#include "format/format.h"
#include "host/memory/foreign.h"
#include "kit/os/fault.h"

struct our_ranges {
	/*
	 * Called for each range, in any order; ranges may overlap. A result
	 * other than 0 ends the reading and is returned.
	 */
	int (*add)(uint64_t start, uint64_t end, void *arg);
	void *arg;
	struct foreign *memory; /* of the process; NULL: it is opened */
	/* some ranges are missing, and look like the process's own memory */
	bool is_partial;
	struct fault why; /* after a failure: a sentence, if there is one */
};

/*
 * The collector's tables and blocks, the data of its libraries, and all
 * mappings of its segment and its control block: nothing there is a pointer of
 * the process. Blocks that the process allocated before the collector was ready
 * (see next.c there) belong to the process. The process runs meanwhile, so
 * memory that the collector maps after this is missing.
 * Negative errno: not all is known (-ENOTSUP: an older collector; -EPERM,
 * -ESRCH, -EFAULT, -ETIMEDOUT, -ENOMEM as of live_map.h).
 */
int our_ranges_read(struct our_ranges *r, pid_t pid, const struct seg_header *h);

/* ---- ignored_blocks: blocks that a running process keeps on purpose ---- */

struct ignored_block {
	uint64_t address;
	uint32_t site, birth;
};

/*
 * Calls `add` for each block that the process has named with seep_ignore(); a
 * result other than 0 ends this and is returned. Blocks that have been freed
 * since are among them: an entry is valid only for a block of the live map with
 * the same address, site and birth. `memory` is that of the process; NULL: it is
 * opened. Negative errno as of live_map_read();
 * -ENOTSUP: an older collector.
 */
int ignored_blocks_read(pid_t pid, struct foreign *memory, const struct seg_header *h,
    int (*add)(const struct ignored_block *b, void *arg), void *arg, struct fault *why);

#endif

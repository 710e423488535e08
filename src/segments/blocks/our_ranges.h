/* our_ranges.h - which memory of a running process is the collector's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OUR_RANGES_H
#define SEEP_OUR_RANGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/memory/foreign.h"
#include "format/format.h"
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

#endif

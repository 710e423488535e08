/* ignored_blocks.h - blocks that a running process keeps on purpose. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_IGNORED_BLOCKS_H
#define SEEP_IGNORED_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/memory/foreign.h"
#include "format/format.h"
#include "kit/os/fault.h"

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

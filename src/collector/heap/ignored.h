/* ignored.h - blocks that the host keeps on purpose: seep_ignore(). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_IGNORED_H
#define SEEP_IGNORED_H

#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/levels.h"
#include "format/seg_ignored.h"

extern SEEP_HIDDEN struct level *ignored_levels[IGNORED_LEVELS];

/*
 * Ignores the block that begins here. An address that is no known block is
 * counted (SEG_IGNORED_UNKNOWN), and so is a block for which there is no room
 * (SEG_LOST_IGNORED). Lock-free; a signal handler may call it. A forked child
 * has a copy of the table, as it has of the blocks.
 */
void ignored_add(uint64_t address);

#endif

/* spill.h - blocks that have no cell of their own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SPILL_H
#define SEEP_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/segment/levels.h"
#include "collector/heap/live.h"

/*
 * Lock-free open addressing in levels (levels.h). One address has one owner at
 * a time, so threads compete only for free slots. A slot that was used once is
 * reused, and never becomes empty again.
 */
struct spill_level {
	struct level head;
	struct cell_spilled slots[];
};

_Static_assert(sizeof(struct level) == CELL_SPILL_HEAD_BYTES, "a level's head");

extern SEEP_HIDDEN struct level *spill_levels[CELL_SPILL_LEVELS];

bool spill_put(
    uint64_t address, uint32_t site, uint64_t size, uint32_t birth, struct live_block *ret_old);
struct live_block spill_take(uint64_t address);

/* Its cell, 0: it is not here. */
uint64_t spill_peek(uint64_t address);

#endif

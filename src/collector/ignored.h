/* ignored.h - blocks that the host keeps on purpose: seep_ignore(). */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_IGNORED_H
#define SEEP_COLLECTOR_IGNORED_H

#include <stdint.h>

#include "base/attr.h"
#include "collector/levels.h"
#include "trace/ignored.h"

extern SEEP_HIDDEN struct level *ignored_levels[IGNORED_LEVELS];

/*
 * The block that begins here. What is no block that we know is counted
 * (SEG_IGNORED_UNKNOWN), what finds no room too (SEG_LOST_IGNORED). Lock-free; a
 * signal handler may call it. A forked child has a copy, as of its blocks.
 */
void ignored_add(uint64_t address);

#endif

/* budget.h - how much memory a segment and our tables may take. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BUDGET_H
#define SEEP_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/vfs.h>

#include "format/medium.h"

/*
 * Bytes for a segment on the file system `fs`, a multiple of SEG_EXTENT_STEP:
 * SEEP_BUDGET if it is set, else 256 MiB, but no more than limits, the file
 * system and the memory cgroups allow. `populate` says that pages can be made
 * later one by one; without it the segment is small. Start-up.
 */
uint64_t budget_of_segment(const struct statfs *fs, bool populate);

/* The same for the chunks of the event log: SEEP_LOG_POOL bytes at most. */
uint64_t budget_of_log(const struct statfs *fs, bool populate);

/* Below this a segment is of no use. */
enum { BUDGET_MIN = MEDIUM_ROOM_MIN };

/*
 * How much private memory all our tables may take under the limits that are set
 * now (RLIMIT_AS, RLIMIT_DATA); UINT64_MAX if there is none. Start-up.
 */
uint64_t budget_of_tables(void);

#endif

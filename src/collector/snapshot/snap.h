/* snap.h - a copy of this process's segment, as a file of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAP_H
#define SEEP_SNAP_H

#include <stddef.h>
#include <stdint.h>

#include "collector/segment/segment.h"
#include "format/format.h"

/*
 * The segment is copied while other threads may write it, in the order in which
 * a reader would read it. Of each site the frees are copied before the
 * allocations, so that live is never negative, and records are copied before
 * those that they refer to. The file is compact: it has the rows in use, and no
 * slots. If only one thread allocates, it is exact.
 *
 * There is no lock, and no static state but counters, so any number of threads
 * and signal handlers may do this at once. Memory is mapped while it runs.
 */

enum { SNAP_TABLES = 448 }; /* room for all tables of a segment */

/* Fills `ret` with all tables of this segment, at most SNAP_TABLES. */
typedef size_t snap_tables_fn(struct segment_table **ret);

/*
 * Once, and again in a forked child, whose numbers begin at 1. `tables`
 * is called for each snapshot. No more than `most` snapshots are kept, and no more bytes than the settings allow
 * (snapthin.h).
 */
void snap_start(uint32_t most, snap_tables_fn *tables);

/*
 * Writes a snapshot. Returns its number, or a negative errno; both are counted.
 * -EDQUOT: SEEP_SNAPSHOTS is 0, or it is 1 and there is one.
 */
int snap_take(const char *label, enum seg_snapshot reason);

/*
 * Writes the segment itself, NAME.seg, when a process with SEEP_PRIVATE exits.
 * Returns 0 or a negative errno.
 */
int snap_write_segment(void);

#endif

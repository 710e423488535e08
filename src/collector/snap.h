/* snap.h - a copy of this process's segment, as a file of its own. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SNAP_H
#define SEEP_COLLECTOR_SNAP_H

#include <stddef.h>
#include <stdint.h>

#include "collector/segment.h"
#include "trace/format.h"

/*
 * The segment is copied while others may write it, in the order in which a
 * reader would read it: of each site the frees before the allocations, so that
 * what lives is never negative; what refers before what is referred to. The
 * file is compact: rows in use, no slots. Where one thread alone allocates,
 * it is exact.
 *
 * No lock and no static state but counters: any number of threads and signal
 * handlers may be at it at once. Memory is mapped for the time being.
 */

enum { SNAP_TABLES = 112 }; /* room for all tables of a segment */

/* Fills `ret` with all tables of this segment, at most SNAP_TABLES. */
typedef size_t snap_tables_fn(struct segment_table **ret);

/*
 * Once, and in a forked child again: numbers begin at 1. No more than `most`
 * are kept, nor more bytes than the settings say: see snapthin.h.
 */
void snap_start(uint32_t most);

/*
 * Writes one. Returns its number, or a negative errno; counted either way.
 * -EDQUOT: SEEP_SNAPSHOTS is 0, or it is 1 and there is one.
 */
int snap_take(
    const char *label, enum seg_snapshot reason, snap_tables_fn *tables);

/*
 * The segment itself, for SEEP_PRIVATE: NAME.seg, when the process comes to its
 * end. 0 or a negative errno.
 */
int snap_write_segment(snap_tables_fn *tables);

#endif

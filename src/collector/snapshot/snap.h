/* snap.h - copies of this process's segment: made, asked for, bounded. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAP_H
#define SEEP_SNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/segment/segment.h"
#include "collector/snapshot/snapfile.h"
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
 * is called for each snapshot. No more than `most` snapshots are kept, and no more bytes than
 * the settings allow (snap.h).
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

/* ---- snapwhen: snapshots that the host does not ask for: signal, time, growth ---- */

/*
 * All of this is off unless the user asks for it, because a host can notice it.
 * There is no thread and no timer: the events of the host look whether
 * SEEP_EVERY is due, so an idle process takes no snapshot. SEEP_SIGNAL installs
 * a handler, which writes a snapshot whatever the process is doing.
 */

/* SEEP_EVERY was given, so call snapwhen_poll(). */
extern bool snapwhen_active;

/* Once, in the constructor, when all else is ready. Writes the outcome to h. */
void snapwhen_start(struct seg_header *h);

/* In a forked child: time and growth begin again; the handler is inherited. */
void snapwhen_restart(struct seg_header *h);

/* Takes a snapshot if one is due; if several threads come, one of them does. */
void snapwhen_poll(void);

/* ---- snapthin: keeps the snapshots of a process within their bounds ---- */

/*
 * The first and the newest snapshot stay. Those between are thinned evenly: of
 * two neighbours one is removed, from the oldest pair on, and when the newest
 * pair has been reached it begins again. So the distance between two neighbours
 * is s or 2s, or longer if the process could not write. A file is removed after
 * a newer one has its name, so a process that is killed in between leaves one
 * file too many, never one too few.
 *
 * Only files of this process are removed: their names are known, and each must
 * be a regular file whose header has our uuid. A file that somebody has moved
 * away does not count any more.
 *
 * One thread thins at a time, and another one leaves that to it without waiting.
 * The first one counts the files that were left to it, and goes on until it has
 * seen them all. Only raw system calls are made. A signal handler may call this.
 */

/* Where to look: the directory of `file`, a buffer for its names. */
struct snapthin {
	const struct snapfile *file; /* open */
	const uint8_t *uuid;         /* of this process */
	uint8_t *buffer;             /* aligned to 8 bytes */
	uint32_t buffer_bytes;
};

/* Once, and again in a forked child, which has written nothing yet. */
void snapthin_start(uint32_t most_files, uint64_t most_bytes);

/* `file` has its name and so many bytes. Removes what is beyond the bounds. */
void snapthin_added(const struct snapthin *t, uint64_t bytes);

/*
 * Removes the next snapshot because `missing` bytes of room are missing. False:
 * none is left between the first and the newest, or all of them together are
 * too small.
 */
bool snapthin_give(const struct snapthin *t, uint64_t missing);

#endif

/* copy_snapshots.h - snapshots of a session come to lie beside its recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_COPY_SNAPSHOTS_H
#define SEEP_RECORD_COPY_SNAPSHOTS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "record/segment_dir.h"

struct copied_snapshots {
	char folder[PATH_MAX]; /* FILE.snapshots */
	int fd;                /* of it; -1: not made yet */
	const char *session;
	size_t moved;
	size_t left;           /* could not be moved, and are where they were */
	int err;               /* why, of the last of them */
	uint64_t others_bytes; /* what those of other users may still take */
	size_t others;         /* files of theirs */
};

/*
 * Moves the snapshots of the session from where the segments are into the
 * folder FILE.snapshots, which is made when there is one. Nothing is
 * overwritten, nothing is deleted that is not there in full; holes stay holes.
 * Those of other users of the tree are copied, so that they are ours, up to
 * 256 MiB. `k` tells what came of it.
 */
void copy_snapshots(
    const struct segment_dir *s, const char *file, struct copied_snapshots *k);

#endif

/* copy_snapshots.h - moves the snapshots of a session beside its recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COPY_SNAPSHOTS_H
#define SEEP_COPY_SNAPSHOTS_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "segments/find/segment_dir.h"

struct copied_snapshots {
	char folder[PATH_MAX]; /* FILE.snapshots */
	int fd;                /* of that folder; -1: not made yet */
	const char *session;
	size_t moved;
	size_t left;           /* could not be moved, and are where they were */
	int err;               /* errno of the last of these */
	uint64_t others_bytes; /* what those of other users may still take */
	size_t others;         /* files of other users */
};

/*
 * Moves the snapshots of the session from the directory of segments into the
 * folder FILE.snapshots, which is created if there is a snapshot. Overwrites
 * nothing, deletes a file only after it has been copied in full, and keeps
 * holes. Snapshots of other users in the tree are copied, so that the copies
 * belong to us, up to 256 MiB. `k` counts the results.
 */
void copy_snapshots(const struct segment_dir *s, const char *file, struct copied_snapshots *k);

#endif

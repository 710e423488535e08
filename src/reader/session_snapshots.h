/* session_snapshots.h - snapshots that belong to a session, and are not loaded yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_SESSION_SNAPSHOTS_H
#define SEEP_READER_SESSION_SNAPSHOTS_H

#include "reader/session.h"

#define SESSION_SNAPSHOTS_SUFFIX \
	".snapshots" /* FILE.snapshots/: those of a recording */

/*
 * A process may have hundreds of snapshots, and a report shows how it ended:
 * so of a snapshot that lies beside a segment or a recording only the header
 * is read. A snapshot that is the INPUT itself is a process like any other.
 */

/* Notes the snapshot in `path` with header h. -ENOMEM. */
int session_snapshots_add(
    struct session *s, const char *path, const struct seg_header *h);

/*
 * Notes all of FILE.snapshots/ that were made in the session of the recording
 * FILE and belong to its owner: the folder may be one that anybody can write.
 * Files of others are left out with a note, what cannot be read without one.
 * -ENOMEM.
 */
int session_snapshots_of_recording(struct session *s, const char *file);

/* By time; then loads the newest of each process that is not there. */
int session_snapshots_finish(struct session *s, struct fault *where);

#endif

/* session_snapshots.h - snapshots that belong to a session, and are not loaded yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SESSION_SNAPSHOTS_H
#define SEEP_SESSION_SNAPSHOTS_H

#include "session/load/session.h"

#define SESSION_SNAPSHOTS_SUFFIX ".snapshots" /* FILE.snapshots/: those of a recording */

/*
 * A process may have hundreds of snapshots, and a report shows how the process
 * ended. So only the header is read of a snapshot that is in the same directory
 * as a segment or a recording. A snapshot that is the INPUT itself is a process
 * like any other.
 */

/* Notes the snapshot in `path` with header h. -ENOMEM. */
int session_snapshots_add(struct session *s, const char *path, const struct seg_header *h);

/*
 * Notes all snapshots in FILE.snapshots/ that were made in the session of the
 * recording FILE and belong to its owner, because anybody may be able to write
 * to that folder. Files of other users are left out with a note, files that
 * cannot be read without one. -ENOMEM.
 */
int session_snapshots_of_recording(struct session *s, const char *file);

/*
 * Sorts them by time; then loads the newest one of each process that is not
 * loaded.
 */
int session_snapshots_finish(struct session *s, struct fault *where);

#endif

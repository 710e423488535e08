/* moments.h - snapshots that belong to a session, and are not loaded yet. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_MOMENTS_H
#define SEEP_READER_MOMENTS_H

#include "reader/session.h"

#define MOMENTS_SUFFIX ".snapshots" /* FILE.snapshots/: those of a recording */

/*
 * A process may have hundreds of snapshots, and a report shows how it ended:
 * so of a snapshot that lies beside a segment or a recording only the header
 * is read. A snapshot that is the INPUT itself is a process like any other.
 */

/* Notes the snapshot in `path` with header h. -ENOMEM. */
int moments_add(
    struct session *s, const char *path, const struct seg_header *h);

/*
 * Notes all of FILE.snapshots/ that were made in the session of the recording
 * FILE, and belong to its owner: anybody may be able to write there. What cannot
 * be read is left out. -ENOMEM.
 */
int moments_of_recording(struct session *s, const char *file);

/* By time; then loads the newest of each process that is not there. */
int moments_finish(struct session *s, struct fault *where);

#endif

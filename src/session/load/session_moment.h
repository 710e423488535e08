/* session_moment.h - a session at other moments. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SESSION_MOMENT_H
#define SEEP_SESSION_MOMENT_H

#include "session/load/session.h"

/*
 * Sets all processes back to their figures at a moment of the time line, in
 * microseconds after its start: those of the last look before it. Processes
 * that began later go. What only the end has goes too: peaks, ages, verdicts,
 * and the time line itself. A moment at or after the end changes nothing but
 * that. -ENODATA: there is no time line; -ENOMEM, -EIO.
 */
int session_moment_set_back(struct session *s, uint64_t time_us);

/*
 * The same for a moment that a user names: the last reading at or before it,
 * which s->title names, as "INPUT at 2026-11-15T12:00:00+0100, after 12 s". All
 * processes that had not ended are of the past. -ENODATA: there is no time
 * line; -EINVAL: no reading is as early; -ENOMEM, -EIO.
 */
struct moment;
int session_moment_read(
    struct session *s, const char *input, const struct moment *m, struct fault *where);

/* A moment of the time line in local time. */
enum { SESSION_MOMENT_BYTES = 64 };
const char *session_moment_date(
    char text[SESSION_MOMENT_BYTES], const struct session *s, uint64_t time_us);

/* The parts of it, for one process. */

/* Gives it figures of its past, by site, and the age that it had then. */
void session_moment_put(
    struct process *p, const struct process_figures *then, uint64_t duration_ns);

/* What only the end has goes. */
void session_moment_drop_ends(struct process *p);

/* The time line and its marks go, and no verdicts are expected. */
void session_moment_drop_line(struct session *s);

/* ---- session_snapshots: snapshots that belong to a session, and are not loaded yet ---- */

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

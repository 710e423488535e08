/* session_parts.h - how a session is put together; for who fills one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_SESSION_PARTS_H
#define SEEP_READER_SESSION_PARTS_H

#include "reader/segfile.h"
#include "reader/session.h"

/* A sentence about what could not be read. -ENOMEM. */
int session_note(struct session *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes what was beyond our bounds, since the last time. -ENOMEM. */
int session_finish(struct session *s);

/* Takes p over, also on failure. -ENOMEM. */
int session_add(struct session *s, struct process *p);

/*
 * The process of a segment file, and its children in slots; ask_proc: look in
 * /proc how they ended. A damaged slot becomes a note.
 */
int session_add_segfile(struct session *s, const struct segfile *f,
    const char *name, bool ask_proc, struct fault *where);

#endif

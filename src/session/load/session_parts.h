/* session_parts.h - how a session is put together, for the files that fill one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SESSION_PARTS_H
#define SEEP_SESSION_PARTS_H

#include "segments/read/segfile.h"
#include "session/load/session.h"

struct session_work {
	struct proc_cache *cache;    /* its own, or that of the list */
	struct session_brief *brief; /* NULL: everything is read */
	uint64_t held_bytes;
	uint64_t looked_ns;
	uint64_t not_looked; /* processes for which there was no time */
	uint64_t notes;      /* beyond NOTES_MAX */
	struct session_lost noted;
	bool is_finishing; /* the last notes are always kept */
	bool is_chapter;   /* it will become a part of another session */
	bool no_blocks;    /* the memory of processes is not read */
};

/* An empty one, with its work; NULL: out of memory. */
struct session *session_new(void);

/* A sentence about what could not be read. -ENOMEM. */
int session_note(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Notes how much exceeded the bounds of a session since the last call. -ENOMEM.
 */
int session_finish(struct session *s);

/*
 * Finds out which segments belong to one process, before and after an exec: if
 * a process has ended and has a later segment, it called exec. For children
 * that called exec during their first events, only the sums are kept. Then
 * sorts all by the time of their start.
 */
void session_put_in_order(struct session *s);
void session_mark_exec(struct process *const *list, size_t count, const struct seg_header *later);

/* Takes ownership of p, also on failure. -ENOMEM. */
int session_add(struct session *s, struct process *p);

/*
 * Adds one process of a segment file. `pid` is the pid with which it runs, or
 * one of the two below: whether /proc is asked how it ended.
 */
enum { SESSION_ASK_NOT = -1, SESSION_ASK_PROC = 0 };
int session_add_slot(
    struct session *s, const struct segfile *f, int slot, pid_t pid, struct fault *where);

/*
 * Adds the process of a segment file and its children in slots. ask_proc: look
 * in /proc how they ended. A damaged slot becomes a note.
 */
int session_add_segfile(struct session *s, const struct segfile *f, const char *name, bool ask_proc,
    struct fault *where);

#endif

/* load_parts.h - how a session is put together, for the files that fill one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOAD_PARTS_H
#define SEEP_LOAD_PARTS_H

#include "recording/file/recording.h"
#include "segments/read/segfile.h"
#include "session/load/load_beside.h"
#include "session/load/session.h"
#include "session/timeline/playback.h"

/* ---- load: reads a recording: processes, points, marks and notes ---- */

/*
 * Adds the contents of the file to the session. A file that is cut off or
 * damaged is used as far as possible: then is_truncated is set, and notes say
 * what is missing. is_given: the user gave the path; otherwise its last part
 * was found in a directory. Errors as of session_load().
 */
int load_into_session(
    struct session *s, const char *path, const char *name, bool is_given, struct fault *where);

/* The number of a line "key=NUMBER" in an entry of text; 0: there is none. */
uint64_t load_text_number(const char *text, size_t len, const char *key);

/* ---- session_parts: how a session is put together, for the files that fill one ---- */

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

/* ---- load_parts: what the files of load_parts.h share: a recording being read ---- */

struct load {
	struct session *session;
	struct recording *recording;
	const char *name;
	struct playback *replay; /* for totals and marks */
	size_t first;            /* of the session's processes that is from here */
	size_t points;           /* points kept, of all processes */
	bool timeline_damaged;
	bool has_timeline;
	bool is_growing; /* its recorder is still running */
	bool is_whole;   /* its bytes are: what it lacks was left out */
	uint64_t max_rss_bytes;
	uint32_t command_pid;
	struct process_names *names; /* the session's */
	size_t names_bytes;
	struct load_beside beside;
	uint64_t segment_bytes; /* bytes, unpacked, of all processes */
	size_t left_out;        /* processes left out because of that limit */
};

/* ---- the entries that are lines of text ---- */

/* A process that was not traced becomes a note. -ENOMEM. */
int load_untraced(struct session *s, const char *text, size_t len);

/* What the recording says of itself. -ENOMEM. */
int load_about(struct load *r, const char *text, size_t len);

/* ---- the time line ---- */

/* Makes r->replay; load_timeline_release() frees it. -ENOMEM. */
int load_timeline_begin(struct load *r);
void load_timeline_release(struct load *r);

/* Reads one entry of it: points and marks. Damage becomes a note. -ENOMEM. */
int load_timeline(struct load *r, const void *bytes, size_t len);

/*
 * Moves the points to the session's processes. 1: some process of the time line
 * has no end state; 0: all have one; -ENOMEM.
 */
int load_timeline_points(struct load *r);

/*
 * Adds processes that have no end state, as the last rows of the time line
 * describe them: the recorder is running, or was killed. -ENOMEM.
 */
int load_timeline_unfinished(struct load *r);

#endif

/* dead.h - processes that end: why, and where their segment is. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEAD_H
#define SEEP_DEAD_H

#include "base/std.h"
#include "format/format.h"
#include "segments/read/segfile.h"

/* Where it is: `slot` of the file `name` in the directory. */
struct dead {
	struct segfile *file; /* for segfile_close() */
	int slot;
	char name[NAME_MAX + 1];
};

/*
 * The last process that had this pid and whose segment is in the directory. The
 * directory was chosen by the process `chooser`, or, if that is 0, by our own
 * user: see foreign_ask.h. -ESRCH: there is none.
 */
int dead_find(pid_t chooser, const char *directory, pid_t pid, struct dead *ret);

/* ---- cause: the end of a process, and its cause, from a descriptor of it ---- */

/*
 * A descriptor that stays with this process if another one gets its pid, and
 * becomes readable when all threads have ended. -ESRCH; -ENOSYS: Linux before
 * 5.3; -EMFILE.
 */
int cause_open(pid_t pid);

/*
 * The status of wait(), which the kernel tells whoever holds the descriptor once
 * the parent has asked for it. -EAGAIN: it has not yet; -ENOTSUP: Linux before
 * 6.15.
 */
int cause_status(int pidfd, int *ret_status);

/* ---- exit_hold: processes that wait at exit until they have been read ---- */

/*
 * With SEEP_LEAKS=1, a process that calls exit() waits as long as a reader
 * beats, so that its heap can be read as the program leaves it. It waits no
 * longer than SEG_BEAT_SECONDS after the last beat.
 *
 * There is one control block for each segment file. It serves the process of
 * that file and all forked children that have a slot there or a link to it. The
 * file may belong to another user, who can change it at any time. So only its
 * magic is read, and no memory of it is touched.
 */
struct exit_wait;

/*
 * `segment` is the name of a segment file in this directory; close with
 * exit_hold_close(). The control file must have the same owner as that file, so
 * that nobody can make us write elsewhere. -ENODATA: there is no valid control
 * block; -ENOMEM, or an error of openat() or mmap().
 */
int exit_hold_open(int dir, const char *segment, struct exit_wait **ret);

/* Says that a reader is there. Twice a second is often enough. */
int exit_hold_beat(struct exit_wait *w);

/* Is this process waiting? The header must have been read just now. */
bool exit_hold_is_on(const struct seg_header *h);

/* Lets the process with this header go on to its end. */
int exit_hold_end(struct exit_wait *w, const struct seg_header *h);

/* NULL is fine. Processes that still wait go on when their time is over. */
void exit_hold_close(struct exit_wait *w);

#endif

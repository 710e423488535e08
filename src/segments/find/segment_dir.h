/* segment_dir.h - the directory for the segments of one recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEGMENT_DIR_H
#define SEEP_SEGMENT_DIR_H

#include "base/std.h"
#include "format/format.h"
#include "recording/file/recording.h"

struct segfile;

enum { SEGMENT_DIR_SESSION_BYTES = 33 }; /* 32 hexadecimal digits */

struct segment_dir {
	int fd; /* the directory */
	int lock_fd;
	char path[PATH_MAX]; /* absolute */
	char session[SEGMENT_DIR_SESSION_BYTES];
};

struct segment_dir_problem {
	char text[PATH_MAX + 256]; /* one line for the user */
};

/*
 * SEEP_DIR if set, else /dev/shm/seep-UID, which is made if it is missing. It
 * must be a directory that belongs to us and that nobody else may write.
 * Chooses a session and locks rec-SESSION.ctl there, which says that its
 * recorder runs. On failure a negative errno, the reason in `why`, nothing
 * held.
 */
int segment_dir_init(struct segment_dir *s, struct segment_dir_problem *why);

/* Unlocks and removes the lock file; all other files stay. */
void segment_dir_release(struct segment_dir *s);

/*
 * Deletes what killed recorders left and nobody can want: their locks, and the
 * segments of programs that were not traced. Segments with figures in them stay,
 * because nobody has read their last state. Returns how many of these no process
 * uses any more.
 */
size_t segment_dir_sweep(const struct segment_dir *s);

/*
 * Calls visit for the name of each file NAME.seg in our directory and in the
 * /dev/shm/seep-UID of other users that we may read (children may change their
 * user). dir_fd is valid during the call. A result other than 0 ends the walk
 * and is returned.
 */
typedef int (*segment_dir_visit)(void *context, int dir_fd, const char *dir, const char *name);
int segment_dir_walk(const struct segment_dir *s, segment_dir_visit visit, void *context);

/* The same for the snapshots that processes wrote there. */
int segment_dir_walk_snapshots(const struct segment_dir *s, segment_dir_visit visit, void *context);

/*
 * Has the collector started in this process of ours? 1 and its newest header,
 * or 0.
 */
int segment_dir_find(const struct segment_dir *s, pid_t pid, struct seg_header *ret);

/*
 * Does the recorder of this session live, and will it read what is in the
 * segments of the session? Its lock is beside the segments in `dir`, or in the
 * directory of another user: the recorder may be root's.
 */
bool segment_dir_is_recorded(int dir, const char *session);

/* Removes NAME.seg and what is beside it, if it is still this file. True: it was. */
bool segment_dir_remove(int dir_fd, const char *name, uint64_t device, uint64_t inode);

/* Opens a directory that visit() was given; a link is not followed. */
int segment_dir_reopen(const char *dir);

/* Opens a segment file in such a directory. Errors as of segfile_open(). */
int segment_dir_open_file(const char *dir, const char *name, struct segfile **ret);

/* ---- refused: programs of a recording that had no room for a segment ---- */

/*
 * Reads the lines that such programs left in SEG_REFUSED_NAME beside the
 * segments, and writes into the recording which programs are missing, and why:
 * the first few by name, then how many more. *ret_count is the number of
 * programs, *ret_more whether there may be others for whose lines there was no
 * room, *ret_why the reason of the last. Errors stay in the writer. If w is
 * NULL, it only counts.
 */
void refused_report(const struct segment_dir *s, struct recording_writer *w, size_t *ret_count,
    bool *ret_more, const char **ret_why);

/*
 * What the file in a directory says, whatever the session: how many programs,
 * and the last of them. Names are theirs, and not escaped.
 */
enum { REFUSED_NAME_BYTES = 64 };
struct refused_last {
	char name[REFUSED_NAME_BYTES];
	pid_t pid;
	const char *why;
	uint64_t at_ns;   /* when its line was written, since 1970 */
	bool is_more;     /* there may be others: the file is full */
	bool is_recorded; /* a recorder that lives will report some of them */
};
size_t refused_look(int dir_fd, struct refused_last *ret);

/*
 * Removes the file if all its lines are ours, because these have been reported.
 */
void refused_forget(const struct segment_dir *s);

#endif

/* foreign_ask.h - requests to the helper that opens files of foreign processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_ASK_H
#define SEEP_FOREIGN_ASK_H

#include "base/std.h"
#include "kit/os/infile.h"

/*
 * One helper serves all requests as long as it answers in time. It has our
 * rights, and opens and reads what this process must not: a file of /proc/PID
 * takes a lock of the process, and a path below /proc/PID/root may lead to a
 * file system that never answers.
 *
 * A process that misses the deadline of 2 s is not asked again for 30 s. All
 * such processes together may cost 2 s and a tenth of the run; beyond that each
 * of them costs 10 ms.
 */
enum foreign_kind {
	FOREIGN_TEXT,   /* a file of /proc/PID, in `path` */
	FOREIGN_LIST,   /* names of segments in a directory, each with NUL */
	FOREIGN_ROOT,   /* procfs_walk_root(), without NUL */
	FOREIGN_FOLDER, /* struct foreign_folder */
	FOREIGN_OPEN,   /* a regular file, see foreign_ask_file() */
	FOREIGN_WRITE,  /* the same for reading and writing, no link */
};

enum { FOREIGN_PATH_BYTES = 4096 + 8 };

struct foreign_request {
	uint32_t kind;
	pid_t pid;  /* the file's owner, or the user who chose the path */
	uid_t user; /* of FOREIGN_FOLDER */
	char path[FOREIGN_PATH_BYTES];
};

struct foreign_folder {
	uint32_t state; /* enum folder_state */
	uid_t owner;
};

/*
 * Does the process belong to us alone? Then nobody else decides what it does,
 * and this process reads it directly. A set-user-ID program that another user
 * has started has that user's real user id.
 */
bool foreign_text_is_mine(pid_t pid);

/*
 * An answer of bytes, NUL terminated; the caller frees it. -ETIMEDOUT, -EIO,
 * -ENOMEM, -EFBIG; or the error that the helper met.
 */
int foreign_ask(const struct foreign_request *r, char **ret, size_t *ret_len);

/*
 * A descriptor. -EREMOTE: the file is not on one of the file systems on which
 * collectors write and where the kernel always answers.
 */
int foreign_ask_file(const struct foreign_request *r, struct stat *ret_stat, int *ret_fd);

/* ---- foreign_file: files at paths that a foreign process has chosen ---- */

/*
 * A path below /proc/PID/root, or a link in /proc/PID/map_files, may lead to a
 * file system that never answers: FUSE, or a network. Looking it up, opening,
 * reading and even closing can hang beyond SIGKILL. So the helper of
 * foreign_ask.h opens it, with a deadline, unless the process is our own. It
 * gives only files on file systems on which collectors write, and where the
 * kernel always answers; all others are -EREMOTE.
 *
 * pid: who has chosen the path; 0: our own user.
 */

/*
 * As source_open(). -ETIMEDOUT: no answer in time, now or before; -EIO: no
 * helper.
 */
int foreign_file_open(pid_t pid, const char *path, struct source *ret);

/* The same for reading and writing; a link is -ELOOP. */
int foreign_file_open_to_write(pid_t pid, const char *path, int *ret_fd);

/*
 * The names in a directory that end in ".seg", each with its NUL, for free().
 * At most 4,096 of another user's process.
 */
int foreign_file_list(pid_t pid, const char *directory, char **ret, size_t *ret_len);

/* ---- foreign_pace: rests between reads, so that a process need not wait for its memory
 * map ---- */

/*
 * Each call that reads pages takes the lock of the memory map for some
 * microseconds. A thread that maps memory meanwhile spins that long, and does
 * not notice. It is another matter if our call meets that thread: we sleep until
 * the lock is ours, and it is ours from the moment on in which the kernel wakes
 * us up. Until we run, which may take a hundred microseconds, the other one
 * waits. So after a call that has slept there is a rest of many times the time
 * that it took. A process that maps memory without end then waits for us in less
 * than one percent of its time; one that hardly does so costs no rest.
 *
 * These rests are bounded in total, so that a look comes to an end.
 */
struct foreign_pace {
	uint32_t rest_us;   /* for each FOREIGN_PACE_BYTES, in any case */
	uint64_t left_ns;   /* of rests because a call has slept */
	uint64_t batch_ns;  /* of them, in this batch */
	uint64_t due_ns;    /* a rest that is to be taken */
	uint64_t before_ns; /* when the call began */
	long slept;         /* how often we have slept, but for calls */
};

enum { FOREIGN_PACE_BYTES = 64 << 10 };

/* 0: no rests at all. */
void foreign_pace_init(struct foreign_pace *p, uint32_t rest_us);

/* A new batch begins: its rests are bounded, too, because somebody waits for it. */
void foreign_pace_batch(struct foreign_pace *p);

/* Around each call that takes the lock. */
void foreign_pace_begin(struct foreign_pace *p);
void foreign_pace_end(struct foreign_pace *p, size_t bytes);

#endif

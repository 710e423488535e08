/* snapfile.h - the file of a snapshot: made, written, named when whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAPFILE_H
#define SEEP_SNAPFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Only raw system calls are made, so a signal handler may call everything here.
 * Nothing is ever overwritten. A hidden file is made with O_EXCL and mode 0600,
 * and gets its name when it is complete, if that name is free. If that fails,
 * the hidden file is removed. If the process or the thread ends before that, the
 * hidden file stays, which no reader takes for a snapshot: seep ls --prune
 * removes it.
 *
 * Other threads of the host go on meanwhile. One of them may close descriptors
 * that it does not know (close_range) and open its own files, which get the
 * lowest numbers. So ours have high numbers, and before each write and close we
 * look whether a descriptor is still our file.
 */
enum { SNAPFILE_NAME_BYTES = 160, SNAPFILE_DIR_BYTES = 2048 };
#define SNAPFILE_END ".seep-snap"

struct snapfile_id {
	uint64_t device, inode;
};

struct snapfile {
	long dir, fd;
	struct snapfile_id dir_id, id;
	uint64_t limit; /* RLIMIT_FSIZE, beyond which SIGXFSZ would come */
	uint32_t pid, number;
	bool is_segment; /* NAME.seg, with the other segments, 0400 */
	char *hidden;    /* the last part of path: its name until it is whole */
	char path[SNAPFILE_DIR_BYTES + SNAPFILE_NAME_BYTES];
};

/*
 * Once, at the start, because a relative directory is relative to that of the
 * start.
 */
void snapfile_start(void);

/*
 * Writes BEGIN-PID-RANDOM-NUMBER.seep-snap, where BEGIN is the name of the
 * program, or follows from SEEP_SNAPSHOT_NAME, after place_name_tame(). The name
 * is hidden unless `is_whole` is set.
 */
void snapfile_name(char to[SNAPFILE_NAME_BYTES], uint32_t pid, uint32_t number, bool is_whole);

/*
 * Opens the directory: SEEP_SNAPSHOT_DIR, or where the segments are. 0, or a
 * negative errno and nothing is held. snapfile_close() comes last.
 */
int snapfile_open(struct snapfile *f);
void snapfile_close(const struct snapfile *f);

/*
 * How many bytes of room are missing for a file of so many bytes; 0: there is
 * enough. A snapshot takes no more than a quarter of the free space. Returns 1,
 * too, if a directory on tmpfs has too many files.
 */
uint64_t snapfile_missing(const struct snapfile *f, uint64_t bytes);

/*
 * Makes the hidden file with the first free number from f->number on. The
 * caller sets f->number and f->pid. Returns 0 or a negative errno.
 */
int snapfile_create(struct snapfile *f);

/* Writes all of it, or returns a negative errno. */
int snapfile_write(const struct snapfile *f, uint64_t at, const void *bytes, uint64_t len);

/*
 * Gives the file its name and closes it. Returns 0, or a negative errno if it
 * was removed.
 */
int snapfile_publish(struct snapfile *f);

/* Closes and removes the file that has no name yet. */
void snapfile_discard(struct snapfile *f);

/* Closes the descriptor if it is still the file that fstat() has described. */
void snapfile_let_go(long fd, const struct stat *st);

#endif

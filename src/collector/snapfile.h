/* snapfile.h - the file of a snapshot: made, written, named when whole. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SNAPFILE_H
#define SEEP_COLLECTOR_SNAPFILE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Raw system calls alone: a signal handler may call all of it. Nothing is ever
 * overwritten: a hidden file is made with O_EXCL, 0600, and gets its name when
 * it is whole, if nobody has that name. Whatever ends us in between leaves no
 * file that a reader would take for a snapshot.
 */
enum { SNAPFILE_NAME_BYTES = 160 };
#define SNAPFILE_END ".seep-snap"

struct snapfile {
	long dir, fd;
	uint64_t limit; /* RLIMIT_FSIZE: beyond it a signal would come */
	uint32_t pid, number;
	bool is_segment; /* NAME.seg, with the other segments, 0400 */
	char hidden[SNAPFILE_NAME_BYTES];
};

/* Once, at the start: a relative directory means that of the start. */
void snapfile_start(void);

/*
 * BEGIN-PID-RANDOM-NUMBER.seep-snap, where BEGIN is the name of the program, or
 * what SEEP_SNAPSHOT_NAME makes of it; hidden unless it is whole. The bytes of
 * BEGIN are those that filename_tame() leaves.
 */
void snapfile_name(
    char to[SNAPFILE_NAME_BYTES], uint32_t pid, uint32_t number, bool is_whole);

/*
 * Opens the directory: SEEP_SNAPSHOT_DIR, or where the segments are. 0, or a
 * negative errno and nothing is held. snapfile_close() comes last.
 */
int snapfile_open(struct snapfile *f);
void snapfile_close(const struct snapfile *f);

/*
 * How much more room there has to be for so many bytes; 0: there is enough. No
 * snapshot takes more than a quarter of what is left. 1 also where a tmpfs has
 * too many files in the directory.
 */
uint64_t snapfile_missing(const struct snapfile *f, uint64_t bytes);

/*
 * Makes the hidden file, with the first number from f->number on that nobody
 * has; f->pid is the caller's to set, too. 0 or negative errno.
 */
int snapfile_create(struct snapfile *f);

/* All of it, or a negative errno. */
int snapfile_write(
    const struct snapfile *f, uint64_t at, const void *bytes, uint64_t len);

/* Gives it its name and closes the file. 0 or negative errno: it is gone. */
int snapfile_publish(struct snapfile *f);

/* Closes and removes the file that has no name yet. */
void snapfile_discard(struct snapfile *f);

#endif

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
enum { SNAPFILE_NAME_BYTES = 128 };

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
 * In SEEP_SNAPSHOT_DIR, or where the segments are, with the first number from
 * f->number on that nobody has; f->pid is the caller's to set, too. Refuses
 * what would take more than a quarter of the free space. 0 or negative errno.
 */
int snapfile_create(struct snapfile *f, uint64_t bytes);

/* All of it, or a negative errno. */
int snapfile_write(
    const struct snapfile *f, uint64_t at, const void *bytes, uint64_t len);

/* Gives it its name and closes it. 0 or negative errno: it is gone. */
int snapfile_publish(struct snapfile *f);

/* Closes and removes what has no name yet. */
void snapfile_discard(struct snapfile *f);

#endif

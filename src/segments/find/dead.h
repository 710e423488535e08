/* dead.h - finds the segment of a process that has ended. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEAD_H
#define SEEP_DEAD_H

#include <limits.h>
#include <sys/types.h>

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
 * user: see foreign_file.h. -ESRCH: there is none.
 */
int dead_find(pid_t chooser, const char *directory, pid_t pid, struct dead *ret);

#endif

/* pools.h - visits the log of each process of an input. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_POOLS_H
#define SEEP_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "format/format.h"
#include "recording/file/recording.h"
#include "kit/os/fault.h"

/* A result other than 0 of one of the functions ends the visit. */
struct pools_visitor {
	/* a process whose segment is the file `name`, or a slot of it */
	int (*pool)(void *context, int dir, const char *name, const struct seg_header *h);
	int (*recording)(void *context, struct recording *b);
	void *context;
};

/*
 * `path` without a pid (0): a recording, a segment file with its slots, or a
 * directory of segments and recordings, of which chapters come first and in
 * order. A pid without a path (NULL): a running process; errors as of
 * proc_open(). Both: the last process that had this pid, which has ended, and
 * whose segment is in the directory `path`, which our own user has chosen;
 * -ESRCH: there is none. 0, or the result of a function, or a negative errno.
 */
int pools_visit(const char *path, pid_t pid, const struct pools_visitor *v, struct fault *where);

/*
 * Gives all entries of one type to `each`, until its result is not 0.
 * *ret_damaged is set if a part cannot be read.
 */
int pools_entries(struct recording *b, enum recording_type type,
    int (*each)(void *context, const void *bytes, size_t len), void *context, bool *ret_damaged);

#endif

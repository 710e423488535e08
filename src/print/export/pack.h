/* pack.h - writes segments, snapshots and recordings as one file with names. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PACK_H
#define SEEP_PACK_H

#include <sys/types.h>

#include "names/find/names.h"
#include "session/load/session.h"
#include "recording/file/recording.h"

/*
 * The result is a recording (docs/RECORDING.md) that reads the same on any
 * machine: the contents of INPUT and the names of its frames. All functions
 * return 0, -ENOMEM, -EIO, or other errors of the files; `where` describes the
 * error.
 */
struct pack_plan {
	const char *path; /* of the result */
	enum recording_existing existing;
	const struct names_options *naming;
	uint32_t pid; /* the pid of the only process that is wanted; 0: all */
};

/*
 * A segment, snapshot or recording file, or a directory of them. Of chapters
 * the newest end state of each process is taken, and all time lines.
 */
int pack_file(const struct pack_plan *plan, const char *input, struct fault *where);

/* A running process, as it is now. */
int pack_pid(const struct pack_plan *plan, pid_t pid, struct fault *where);

/* A compact segment in memory; its process runs with this pid. */
int pack_bytes(
    const struct pack_plan *plan, const void *bytes, size_t len, pid_t pid, struct fault *where);

#endif

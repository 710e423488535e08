/* pack.h - puts recordings together: segments, snapshots, time lines. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PACK_H
#define SEEP_PACK_H

#include "base/std.h"
#include "names/find/names.h"
#include "recording/file/recording.h"
#include "session/load/session.h"

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

/* ---- splice: puts the time lines of several recordings behind each other ---- */

/*
 * Items are copied, with other times and other numbers of processes. So a
 * process that is in two of the time lines has two numbers in the result, and
 * its figures begin with zeros each time; its uuid says that it is one process.
 */
struct splice {
	struct recording_writer *writer;
	uint32_t pid;      /* only processes with this pid; 0: all */
	uint64_t start_ns; /* of the first recording, since 1970; 0: none yet */
	uint64_t until_us; /* since then: the last moment of the time line */
	uint64_t numbers;  /* numbers up to this one are taken */
};

/*
 * Adds the time line of b, which began at start_ns, as far as it is sound.
 * Leaves b at its first entry. -ENOMEM, or an error of the writer.
 */
int splice_add(struct splice *s, struct recording *b, uint64_t start_ns);

#endif

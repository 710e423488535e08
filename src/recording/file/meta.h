/* meta.h - the text entries of a recording: about the run, and untraced programs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_META_H
#define SEEP_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "recording/file/recording.h"

struct meta {
	const char *version; /* of seep */
	const char *session;
	const char *program;         /* the file that was run */
	char *const *command;        /* its arguments, ends with NULL */
	pid_t pid;                   /* its process */
	uint64_t start_ns;           /* start time, since 1970 */
	uint64_t start_monotonic_ns; /* zero of the time line */
	uint64_t sample_bytes;       /* 0: exact */
	uint64_t leaks_ns;           /* between looks; 0: none */
	uint64_t chapter;            /* its number; 0: of no chapter */
	bool ended;
	bool turned;            /* the chapter ends, the command runs on */
	uint64_t end_ns;        /* since 1970; 0: now */
	int status;             /* as of waitpid(), once it has ended */
	bool follow;            /* children were recorded, too */
	uint64_t max_rss_bytes; /* maximum of the command, once it has ended */
	uint64_t oom_kills;     /* kills in our cgroup while it ran */
	size_t unwatched;       /* processes without a time line */
	size_t unplaced;        /* modules that were not searched for */
	bool timeline_cut;      /* the time line ends before the command does */
	const char *service;    /* of a chapter of seep watch, which has no */
	                        /* command; else NULL */
};

/* Lines key=value, see docs/RECORDING.md; if it has ended, then now. */
int meta_write(const struct meta *m, struct recording_writer *w);

#define META_NO_REASON "no collector in it, for a reason not known"

/* A process of the tree that was not traced, and why. */
int meta_write_untraced(struct recording_writer *w, pid_t pid, const char *exe, const char *reason);

/*
 * A process that was not traced because there was no room, so the recording is
 * incomplete. `count` of them; pid 0: several.
 */
int meta_write_refused(
    struct recording_writer *w, pid_t pid, const char *exe, const char *reason, size_t count);

#endif

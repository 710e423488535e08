/* meta.h - what a recording says about its run, and who writes it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_META_H
#define SEEP_META_H

#include "base/std.h"
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

/* ---- claim: says which file a recorder is about to write, and to which no other may ---- */

/*
 * A recording has no name before it contains something, and none is made for
 * a command that was not traced. So a second recorder for the same name would
 * learn of the first one when it has already run its command. A claim is a
 * locked file rec-HASH.ctl beside the segments, HASH standing for the directory
 * and the name of the recording; it ends with its recorder, whatever ends that.
 * Recorders that use different directories of segments do not see each other's.
 */
struct claim {
	int dir_fd;
	int fd;        /* locked; -1: there is none */
	char name[64]; /* in dir_fd */
};

/*
 * Claims `name` in the directory `folder_fd`; `segments_fd` must stay open as
 * long as the claim. -EBUSY: another recorder has claimed it, *ret_holder is its
 * pid, or 0 if that is not known. After other errors there is no claim, either.
 */
int claim_take(
    struct claim *c, int segments_fd, int folder_fd, const char *name, pid_t *ret_holder);

/* Also for a claim that was not taken. */
void claim_release(struct claim *c);

/*
 * Is another recorder writing the recording that has this path? Then its pid is
 * in *ret_holder, or 0 if that is not known.
 */
bool claim_is_written(const char *path, pid_t *ret_holder);

#endif

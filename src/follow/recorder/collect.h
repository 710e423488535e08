/* collect.h - brings the segments of a session together in one recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECT_H
#define SEEP_COLLECT_H

#include "base/std.h"
#include "segments/find/procs.h"
#include "follow/recorder/quota.h"
#include "segments/find/segment_dir.h"
#include "follow/recorder/where.h"
#include "recording/file/recording.h"

/* What is known of the command itself. */
struct collect_child {
	pid_t pid;
	uint64_t start_jiffies; /* 0: not known */
	bool running;
	int status; /* as of waitpid(), once it has ended */
	bool alone; /* record nothing of its children */
};

struct drain;
struct process;

/* What became of SEEP_LOG, in processes that are over. */
struct collect_logs {
	size_t unread;          /* with an event log that nobody reads (no drain) */
	size_t without;         /* that lack a log or flight recorder, and say why */
	struct seg_header lack; /* of the first of these */
	uint64_t ignored;       /* settings of one process, at most */
};

struct collect_row; /* a process found, see collect.c */
struct collect_file;

/* Names of segments, in order. */
struct collect_keys {
	struct live_key *list;
	size_t count, room;
};

/*
 * Everything is zero before the first collect_find(), except `quota` and
 * `written`.
 */
struct collect {
	struct collect_row *rows; /* by start, once collect_find() is done */
	size_t row_count;
	struct collect_file *files;
	size_t file_count;
	struct procs procs;    /* processes of the tree that still run */
	bool arrived;          /* the command had the collector in it */
	bool declined;         /* which did nothing, in its last program */
	uint32_t inert_reason; /* enum seg_inert, of the command; or why it */
	                       /* may see little, when it has not declined */
	uint32_t place_owner;  /* of its header */
	pid_t command;
	bool alone;                  /* the command is all that is wanted */
	struct quota *quota;         /* what may be written, and of whom */
	struct collect_keys merged;  /* segments that are already written */
	struct collect_keys refused; /* and those that will never be */

	bool is_turning; /* see collect_write_running() */

	/* called for each process that has been written; NULL: not wanted */
	void (*written)(void *context, const struct process *p);
	void *context;
	struct where where;  /* of modules, seen while processes ran */
	struct drain *drain; /* of event logs; NULL: none are wanted */
	struct collect_logs logs;

	/* filled by collect_write() and collect_merge() */
	size_t programs;  /* recorded: segments with something in them */
	size_t processes; /* the same, chains of exec counted once */
	size_t inert;     /* collector there, but declined */
	size_t unreadable;
	uint64_t allocations, allocated_bytes;
	uint64_t live_blocks, live_bytes; /* exec has freed what came before */
	uint64_t peak_bytes;              /* of the program with the highest */
	pid_t peak_pid;
	char peak_name[64];
};

/*
 * Looks for all segments of the session that are not written yet and finds out
 * how each process ended; forgets what an earlier look found. 0, also where
 * there are none; -ENOMEM, or an error of reading /proc.
 */
int collect_find(struct collect *c, const struct segment_dir *s, const struct collect_child *child,
    uint64_t since_jiffies);

/*
 * Appends them, oldest first. A segment that cannot be read, or for which
 * there is no room, is counted.
 */
int collect_write(struct collect *c, struct recording_writer *w);

/*
 * At the end of a chapter: appends the states of processes that may run on.
 * They are not counted in the figures below `written`, and are found again.
 */
int collect_write_running(struct collect *c, struct recording_writer *w);

/* Before and after the segment of a process that is no more is written. */
struct collect_hooks {
	void *context;
	void (*before)(void *context, const uint8_t uuid[16]);
	void (*after)(
	    void *context, const uint8_t uuid[16], pid_t pid, const struct recording_segment *end);
};

/*
 * While the tree runs: appends the segments of processes that have certainly
 * ended, and makes room by deleting their files and freeing their slots. An
 * error is that of the recording.
 */
int collect_merge(struct collect *c, struct recording_writer *w, const struct collect_hooks *hooks);

/*
 * Called for each process of the session that still runs; `traced` says whether
 * the collector is in it.
 */
typedef void (*collect_running)(void *context, const struct procs_process *p, bool traced);
void collect_each_running(const struct collect *c, collect_running visit, void *context);

/* Deletes what was written, once it is safe elsewhere; never of the living. */
void collect_remove(const struct collect *c);

void collect_release(struct collect *c);

#endif

/* procs.h - lists the processes that map segments or are in a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROCS_H
#define SEEP_PROCS_H

#include "base/std.h"
#include "segments/find/proc.h"

struct procs_file {
	uint64_t device, inode;
};

struct procs_process {
	pid_t pid;    /* pid in our namespace */
	pid_t ns_pid; /* pid in its own namespace */
	pid_t parent;
	uint64_t start_jiffies;
	char name[32];
	bool in_session;          /* it was started with our SEEP_SESSION */
	bool hidden;              /* we may not see its mappings */
	struct procs_file *files; /* segments it maps */
	size_t file_count;
};

/* Running processes that map a segment, are in the session, or are hidden. */
struct procs {
	struct procs_process *list;
	size_t count;
	uint64_t begin_ns; /* CLOCK_MONOTONIC; later processes may be missing */
};

/*
 * Looks at all processes that started at `since_jiffies` or later; a session of
 * NULL matches none. -ENOMEM, or the error of opening /proc.
 */
int procs_init(struct procs *p, uint64_t since_jiffies, const char *session);
void procs_release(struct procs *p);

/* Does this process map this file? */
bool procs_process_maps(const struct procs_process *p, uint64_t device, uint64_t inode);

/* Does any process map this file? */
bool procs_maps(const struct procs *p, uint64_t device, uint64_t inode);

/*
 * The running process that wrote this header: it maps the file and has this pid
 * in its own namespace. If mappings are hidden, pid and start time decide.
 */
const struct procs_process *procs_writer(
    const struct procs *p, uint64_t device, uint64_t inode, pid_t ns_pid, uint64_t start_jiffies);

/*
 * May a running process with this pid in its own namespace map the file? Yes if
 * it does, or if we may not see its mappings.
 */
bool procs_may_map(const struct procs *p, uint64_t device, uint64_t inode, pid_t ns_pid);

/*
 * PROC_NO, PROC_EXEC: surely no process writes this segment any more. A forked
 * child may be in a pid namespace of its own, where its pid is another than
 * here: then the list has it, or the answer is PROC_UNKNOWN. is_first: the list
 * was made before the header was read, so a child that was forked since is not
 * in it.
 */
enum proc_state procs_check(
    const struct procs *p, const struct seg_header *h, const struct source *file, bool is_first);

/*
 * May this process be a descendant of the pid? Yes if its chain of parents says
 * so, or if it has lost them.
 */
bool procs_may_descend(const struct procs_process *p, pid_t ancestor);

/* Does this process map any segment? Yes if we may not see its mappings. */
bool procs_has_segment(pid_t pid);

/* Does any process of this session run? */
bool procs_session_runs(uint64_t since_jiffies, const char *session);

/* Field 22 of /proc/PID/stat; 0: no such process. */
uint64_t procs_start_jiffies(pid_t pid);

#endif

/* procs.h - reads /proc once: which process maps which segment or is of a session. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_PROCS_H
#define SEEP_RECORD_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct procs_file {
	uint64_t device, inode;
};

struct procs_process {
	pid_t pid;    /* as we see it */
	pid_t ns_pid; /* as it sees itself */
	pid_t parent;
	uint64_t start_jiffies;
	char name[32];
	bool in_session;          /* was started with our SEEP_SESSION */
	bool hidden;              /* we may not see its mappings */
	struct procs_file *files; /* segments it maps */
	size_t file_count;
};

/* Living processes that map a segment, are of the session, or are hidden. */
struct procs {
	struct procs_process *list;
	size_t count;
	uint64_t begin_ns; /* CLOCK_MONOTONIC; later processes may be missing */
};

/*
 * Looks at all processes that started at `since_jiffies` or later; a session
 * NULL matches none. -ENOMEM, or what opening /proc says.
 */
int procs_init(struct procs *p, uint64_t since_jiffies, const char *session);
void procs_release(struct procs *p);

/* Does this one map this file? */
bool procs_process_maps(
    const struct procs_process *p, uint64_t device, uint64_t inode);

/* Does anybody map this file? */
bool procs_maps(const struct procs *p, uint64_t device, uint64_t inode);

/*
 * The living process that wrote this header: maps the file and has this pid
 * in its own namespace. Where mappings are hidden, pid and start must do.
 */
const struct procs_process *procs_writer(const struct procs *p, uint64_t device,
    uint64_t inode, pid_t ns_pid, uint64_t start_jiffies);

/*
 * May a living process with this pid in its own namespace have the file mapped:
 * it does, or we may not see it?
 */
bool procs_may_map(
    const struct procs *p, uint64_t device, uint64_t inode, pid_t ns_pid);

/* May this one be a descendant: through its parents, or by having lost them? */
bool procs_may_descend(const struct procs_process *p, pid_t ancestor);

/* Does this process map any segment? Where we may not see it: yes. */
bool procs_has_segment(pid_t pid);

/* Does any process of this session run? */
bool procs_session_runs(uint64_t since_jiffies, const char *session);

/* Field 22 of /proc/PID/stat; 0: no such process. */
uint64_t procs_start_jiffies(pid_t pid);

#endif

/* launch.h - starts the command with the collector in it, and waits for it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LAUNCH_H
#define SEEP_LAUNCH_H

#include "base/std.h"
#include "kit/os/fault.h"
#include "session/process/process.h"

struct launch_plan {
	char *const *argv;      /* ends with NULL; argv[0] is sought in PATH */
	const char *preload;    /* libseep.so, absolute */
	const char *companions; /* more to preload, joined by colons, or "" */
	const char *dir;        /* SEEP_DIR */
	const char *session;    /* SEEP_SESSION */
	bool no_deepbind;       /* SEEP_DEEPBIND=clear */
	bool leaks;             /* SEEP_LEAKS=1 */
	bool log;               /* SEEP_LOG=1, unless it is set */
	bool last;              /* SEEP_LOG=last, likewise */
	bool mappings;          /* SEEP_MAPPINGS=1 */
	bool no_guess;          /* SEEP_GUESS=0 */
	bool runtime_names;     /* see launch.h */
	unsigned depth;         /* SEEP_DEPTH; 0: not set */
	uint64_t sample_bytes;  /* SEEP_SAMPLE; 0: not set */

	/*
	 * Called when the process exists and waits to become the command. If
	 * the result is not 0, the command is not started, and launch_start()
	 * returns -ECANCELED.
	 */
	int (*ready)(void *context, pid_t pid);
	void *context;
};

struct launch {
	pid_t pid;
	uint64_t start_jiffies;
	int status;             /* as of waitpid(), once launch_wait() gave 1 */
	uint64_t max_rss_bytes; /* of the command or one of its children, then */
	sigset_t old_mask;
	struct sigaction old_chld;
};

/*
 * Looks for `name` beside our own executable, in ../lib/seep and in ../lib.
 * -ENOENT: not there (`to` is the first place that was tried); -EPERM: other
 * users may write it; -EINVAL: LD_PRELOAD cannot contain such a path.
 */
int launch_find_library(const char *name, char *to, size_t bytes);

/*
 * Forks and executes. The child has stdio, terminal, process group, signal
 * dispositions, mask and descriptors that we were started with. From here on
 * all signals but those of faults are blocked in us. While launch_wait() waits,
 * those that somebody has sent to us are handed on to the child; the terminal
 * sends its own to the child, too. Afterwards they stay blocked, so that the
 * recording is written in peace. The error is that of exec or fork; nothing has
 * changed then.
 */
int launch_start(struct launch *l, const struct launch_plan *plan);

/* 1: the command has ended; 0: timeout (negative: none); negative errno. */
int launch_wait(struct launch *l, int timeout_ms);

/*
 * After the end of the command: sleeps; true if SIGINT, SIGTERM or SIGHUP came,
 * which is now meant for us.
 */
bool launch_idle(int timeout_ms);

/* ---- preload: the libraries that are preloaded into a program ---- */

/* Finds a library of ours; false: it says why it cannot be used. */
bool preload_find(fault_say *say, const char *name, char *path, size_t bytes);

/*
 * Libraries beside libseep.so for the allocator that a program uses: its
 * operator new, and functions that only it has. Joined by colons; empty if there
 * is none. It says which one is missing.
 */
void preload_companions(fault_say *say, const char *allocator, char *ret, size_t bytes);

/*
 * Adds libseep-map.so to such a list. False: it is missing, and that was said,
 * or there is no room.
 */
bool preload_mappings(fault_say *say, char *list, size_t bytes);

/* ---- runtime_maps: makes runtimes write the names of their functions, and tidies up ---- */

/*
 * The variables that make node, java and Python (3.12 or later) write
 * /tmp/perf-PID.map. Call `set` with each name and its value: what is set now,
 * and what it lacks. A variable that lacks nothing is left out. Stops at an
 * error, which it returns; -ENOMEM.
 */
int runtime_maps_each(
    int (*set)(void *context, const char *name, const char *value), void *context);

/* Which maps are there before a run, and which processes the run had. */
struct runtime_maps;

/* Before the run. -ENOMEM. */
int runtime_maps_new(struct runtime_maps **ret);

/* NULL is fine. */
void runtime_maps_free(struct runtime_maps *m);

/* A process of the run. Without memory for it, its map stays. */
void runtime_maps_note(struct runtime_maps *m, const struct process *p);

/*
 * Removes the maps that these processes have made, and the logs that node then
 * writes into its directory, if that is ours: only regular files of our own
 * user that were not there before, and none of a process that runs.
 */
void runtime_maps_remove(const struct runtime_maps *m);

#endif

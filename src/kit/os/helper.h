/* helper.h - child processes of ours that do one thing, and may hang or die. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELPER_H
#define SEEP_HELPER_H

#include "base/std.h"

/*
 * A helper is a fork of this process without another program: it has our memory
 * and our rights, and gives up some of them by its flags. Only four other places
 * fork: a traced program (attach/program/launch.c) and the replayer
 * (replay/trial.c) get signals, environment and descriptors that somebody else
 * chose, and must be our own children, because their end is ours to report; a
 * pager and a browser (command/shell) outlive us or hold the terminal.
 *
 * helper.c alone knows how a helper comes into being. One whose context holds no
 * pointer could as well be forked by a small process that was started before
 * anything was loaded; the context would then have to be sent as bytes.
 *
 * What differs between helpers is one of these eight flags:
 */
enum helper_flag {
	/* it ends when we end: nobody needs its answer then */
	HELPER_DIES = 1 << 0,
	/* signals have their default actions, but SIGPIPE is ignored; none is blocked */
	HELPER_SIGNALS = 1 << 1,
	/* Ctrl-C is for us: we decide when it ends */
	HELPER_NO_INTERRUPT = 1 << 2,
	/*
	 * 0 to 2 are /dev/null: what libraries print does not reach the screen, and
	 * nobody who reads our output waits for a helper that was left behind
	 */
	HELPER_DARK = 1 << 3,
	/* 0 is /dev/null, 1 and 2 are the channel: its answer is what it prints */
	HELPER_PRINTS = 1 << 4,
	/* all other descriptors are closed; the channel is 3, `keep` follow */
	HELPER_CLOSES = 1 << 5,
	/* it reads the memory of others: no core file, and nobody may trace it */
	HELPER_SECRET = 1 << 6,
	/* a process group of its own, so that its own helpers can be killed with it */
	HELPER_GROUP = 1 << 7,
};

enum helper_channel {
	HELPER_SILENT,  /* its exit status is all that it says */
	HELPER_PIPE,    /* it writes, we read */
	HELPER_STREAM,  /* both read and write */
	HELPER_PACKETS, /* the same, in whole messages */
};

struct helper_plan {
	/* in the helper; fd: its end of the channel. The result is its exit status. */
	int (*run)(int fd, void *context);
	void *context;
	unsigned flags;
	enum helper_channel channel;
	int *const *keep; /* of HELPER_CLOSES; -1 is none. Their numbers change. */
	size_t keep_count;
};

/*
 * *ret_fd is our end of the channel (NULL: HELPER_SILENT); it is closed on exec.
 * 0, or an error of fork(), pipe2() or socketpair(), and then nothing was started.
 */
int helper_start(const struct helper_plan *p, pid_t *ret_pid, int *ret_fd);

/* Waits until there is something to read, or its end. -ETIMEDOUT, -EIO. */
int helper_await(int fd, uint64_t until_ns);

/* Reads as many bytes. -ETIMEDOUT; -EIO: it has ended before. */
int helper_read(int fd, void *to, size_t bytes, uint64_t until_ns);

/* Waits so long for its end. An error of waitpid() counts as its end. */
bool helper_wait(pid_t pid, unsigned ms, int *ret_status);

/*
 * Waits for its end: `grace_ms` for the process to end by itself, then SIGKILL
 * and one more second. False: it does not end even then, because it waits in
 * the kernel for a file system that does not answer. Such a process is left
 * behind.
 */
bool helper_end(pid_t pid, unsigned grace_ms, int *ret_status);

#endif

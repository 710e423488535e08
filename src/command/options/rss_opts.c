/* rss_opts.c - --rss: reads which pages of running processes are resident. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/record_opts.h"

#include "base/std.h"
#include "command/cmd.h"
#include "command/shell/die.h"
#include "host/proc/procfs.h"
#include "analysis/rss/rss_reading.h"

static const char *cause(int err)
{
	switch (err) {
	case -EACCES:
		return "the system does not let you look at it; as root, or "
		       "with CAP_SYS_PTRACE, it does";
	case -ESRCH:
		return "it has ended, or become another program, while it was "
		       "read";
	case -ETIMEDOUT:
		return "reading its memory takes too long";
	case -ENOMEM:
		return "out of memory";
	default:
		return strerror(-err);
	}
}

/* A snapshot of a process that runs is of another moment than the process. */
static bool can_be_read(const struct process *p)
{
	return p->running_pid > 0 && !p->is_snapshot && !p->rss_account;
}

/*
 * The pid of a process that hides which files it maps, so that nobody can tell
 * whether it is still the program of this segment; 0: it has ended. It may have
 * become another program that hides itself, too: then its sums are shown.
 */
static pid_t hidden_pid(const struct process *p)
{
	const struct seg_header *h = &p->header;
	struct procfs_stat now;

	if (p->end != PROCESS_UNKNOWN || p->is_snapshot || p->rss_account ||
	    h->start_jiffies == 0 || procfs_stat((pid_t)h->pid, &now) < 0)
		return 0;
	return now.start_jiffies == h->start_jiffies ? (pid_t)h->pid : 0;
}

/* Reads what can be read of it. */
static int read_one(struct process *p, struct fault *where)
{
	pid_t pid = hidden_pid(p);
	int err;

	if (can_be_read(p))
		return rss_reading_attach(p, where);
	if (pid == 0)
		return 0;
	p->running_pid = pid;
	err = rss_reading_attach(p, where);
	p->running_pid = 0;
	return err;
}

void rss_opts_read(const char *command, struct session *s, uint32_t pid)
{
	size_t known = 0, failed = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];
		struct fault where = {""};
		int err;

		if (pid != 0 && p->header.pid != pid)
			continue;
		err = read_one(p, &where);
		if (err < 0 && s->count == 1)
			die(CMD_INPUT, "%s: --rss: process %u: %s", command, p->header.pid,
			    cause(err));
		if (err < 0)
			die_warn("%s: --rss: process %u: %s", command, p->header.pid, cause(err));
		failed += err < 0;
		known += p->rss_account != NULL;
	}
	if (known > 0)
		return;
	if (failed > 0)
		die(CMD_INPUT, "%s: --rss: no process could be read", command);
	die(CMD_USAGE,
	    "%s: --rss: no reading of pages in this input; seep report PID "
	    "--rss reads a running process, and seep snapshot and seep record "
	    "--rss keep a reading (every 10 s; for a shorter run: --rss=100ms)",
	    command);
}

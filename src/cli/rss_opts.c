/* rss_opts.c - --rss: reads which pages of running processes are resident. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/rss_opts.h"

#include <errno.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "reader/residence.h"

static const char *
cause(int err)
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
static bool
can_be_read(const struct process *p)
{
	return p->running_pid > 0 && !p->is_snapshot && !p->residence;
}

void
rss_opts_read(const char *command, struct session *s, uint32_t pid)
{
	size_t known = 0, failed = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];
		struct fault where = {""};
		int err = 0;

		if (pid != 0 && p->header.pid != pid)
			continue;
		if (can_be_read(p))
			err = residence_attach(p, &where);
		if (err < 0 && s->count == 1)
			die(CMD_INPUT, "%s: --rss: process %u: %s", command,
			    p->header.pid, cause(err));
		if (err < 0)
			die_warn("%s: --rss: process %u: %s", command,
			    p->header.pid, cause(err));
		failed += err < 0;
		known += p->residence != NULL;
	}
	if (known > 0)
		return;
	if (failed > 0)
		die(CMD_INPUT, "%s: --rss: no process could be read", command);
	die(CMD_USAGE,
	    "%s: --rss: no reading of pages in this input; seep report PID "
	    "--rss reads a running process, and seep snapshot and seep record "
	    "--rss keep a reading",
	    command);
}

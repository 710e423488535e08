/* export_at_end.c - exports a finished recording to another tool's format. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/export_at_end.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/cmd.h"
#include "command/shell/die.h"
#include "print/export/export.h"
#include "kit/os/helper.h"

void export_at_end_check(const char *command, const char *format)
{
	if (!export_find(format))
		die(CMD_USAGE,
		    "%s: --export: there is no format \"%s\" (seep export "
		    "--list prints them)",
		    command, format);
}

struct order {
	const char *recording, *format;
	bool quiet;
};

static int export_here(int none, void *order)
{
	const struct order *x = order;
	const char *recording = x->recording, *format = x->format;
	char verb[] = "export", o[] = "-o", *name, *input, *kind;
	int fd;

	/* stdout belongs to the command that was recorded */
	(void)none;
	fd = x->quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
	    asprintf(&name, "%%e-%%p-%%n%s", export_find(format)->extension) < 0 ||
	    asprintf(&input, "%s%s", *recording == '-' ? "./" : "", recording) < 0 ||
	    asprintf(&kind, "--format=%s", format) < 0)
		die(CMD_INPUT, "record: --export: %s", strerror(errno));
	exit(cmd_export.run(&cmd_export, 5, (char *[]){verb, kind, o, name, input, NULL}));
}

void export_at_end(const char *recording, const char *format, bool quiet)
{
	struct order order = {recording, format, quiet};
	const struct helper_plan plan = {.run = export_here, .context = &order};
	int status, err;
	pid_t pid;

	/* in a child process, because a failure there ends the program */
	(void)fflush(NULL);
	err = helper_start(&plan, &pid, NULL);
	if (err < 0) {
		die_warn("--export %s: %s", format, strerror(-err));
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
}

/* net.c - from seep to seep-net, for commands that speak HTTP. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/net.h"

#include "base/std.h"
#include "command/cmd.h"
#include "command/shell/die.h"
#include "attach/program/launch.h"

#define PROGRAM "seep-net"

char **net_keep(int argc, char **argv)
{
	char **kept = calloc((size_t)argc + 2, sizeof(char *));

	if (!kept)
		die(CMD_INPUT, "%s: out of memory", argv[0]);
	for (int i = 0; kept && i <= argc; i++) {
		kept[i] = strdup(i == 0 ? "seep" : argv[i - 1]);
		if (!kept[i])
			die(CMD_INPUT, "%s: out of memory", argv[0]);
	}
	return kept;
}

void net_enter(const char *command, char **kept)
{
	char path[PATH_MAX * 2];
	int err;

	if (net_table)
		return;
	err = launch_find_library(PROGRAM, path, sizeof(path));
	if (err == -ENOENT)
		die(CMD_INPUT,
		    "%s: this seep has no " PROGRAM
		    ": it was built without libmicrohttpd and libcurl",
		    command);
	if (err == -EPERM)
		die(CMD_INPUT, "%s: %s is not run, because other users may write it", command,
		    path);
	/* -EINVAL is about LD_PRELOAD, which has no part in this */
	(void)execv(path, kept);
	die(CMD_INPUT, "%s: %s cannot be run: %s", command, path, strerror(errno));
}

/* cmd.h - the commands; each gets its own name in argv[0]. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_CMD_H
#define SEEP_CLI_CMD_H

#ifndef SEEP_VERSION
#define SEEP_VERSION "0.1"
#endif

enum cmd_exit {
	CMD_OK = 0,
	CMD_YES = 1,   /* "yes, leaks" */
	CMD_USAGE = 2, /* we were called wrongly */
	CMD_INPUT = 3, /* input damaged or unreadable, output not writable */
};

int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_on(int argc, char **argv);
int cmd_off(int argc, char **argv);

#endif

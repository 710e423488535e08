/* main.c - the table of commands. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *meaning;
};

static const struct command commands[] = {
    {"record", cmd_record, "run a command and record what its heap does"},
    {"report", cmd_report, "who allocated what: a recording, segment or PID"},
    {"ls", cmd_ls, "list the processes that are or were traced"},
    {"snapshot", cmd_snapshot, "save the state of a running process"},
    {"on", cmd_on, "start recording in a traced process"},
    {"off", cmd_off, "stop recording in a traced process"},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static int
help(FILE *out)
{
	(void)fprintf(out,
	    "usage: seep COMMAND [OPTION...] [ARGUMENT...]\n\n"
	    "seep finds out where the heap of a program goes,"
	    " and what leaks.\n\n"
	    "commands:\n");
	for (int i = 0; i < COMMANDS; i++)
		(void)fprintf(
		    out, "  %-10s %s\n", commands[i].name, commands[i].meaning);
	(void)fprintf(out,
	    "\nseep COMMAND --help tells more; seep --version tells which.\n"
	    "A first look: seep record CMD, then seep report.\n");
	return fflush(out) == 0 ? CMD_OK : CMD_INPUT;
}

/* A result written to a descriptor that happens to be 2 would be a mess. */
static void
open_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
}

int
main(int argc, char **argv)
{
	/* what a recorded command gets is not ours to mend */
	if (argc < 2 || strcmp(argv[1], "record") != 0)
		open_standard_streams();
	if (argc < 2) {
		(void)help(stderr);
		return CMD_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
	    strcmp(argv[1], "help") == 0)
		return help(stdout);
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("seep %s\n", SEEP_VERSION);
		return fflush(stdout) == 0 ? CMD_OK : CMD_INPUT;
	}
	for (int i = 0; i < COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	die(CMD_USAGE, "unknown %s \"%s\" (see: seep --help)",
	    argv[1][0] == '-' ? "option" : "command", argv[1]);
}

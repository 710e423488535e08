/* cmd.h - what a command is, and all of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CMD_H
#define SEEP_CMD_H

#ifndef SEEP_VERSION
#define SEEP_VERSION "0.1"
#endif

enum cmd_exit {
	CMD_OK = 0,
	CMD_YES = 1,   /* the answer is yes: there are leaks */
	CMD_USAGE = 2, /* wrong use of the command line */
	CMD_INPUT = 3, /* input damaged or unreadable, output not writable */
};

struct opts_group;

/*
 * A command describes itself: --help, the man page and the completions of the
 * shells are all made from this. To add one: its file, a line below, a line in
 * cmd.c, and man/seep-NAME.scd.
 */
struct cmd {
	const char *name;
	const char *summary; /* a phrase for the list of commands */
	/*
	 * "[INPUT]", "OLD NEW", "PID", "on|off", "FILE...", "" and so on.
	 * Everything after CMD belongs to that command, options too.
	 */
	const char *operands;
	const char *about;                /* paragraphs between "\n\n", wrapped by help */
	const struct opts_group *options; /* NULL: none */
	int (*run)(const struct cmd *self, int argc, char **argv);
};

extern const struct cmd cmd_record;
extern const struct cmd cmd_report;
extern const struct cmd cmd_diff;
extern const struct cmd cmd_check;
extern const struct cmd cmd_export;
extern const struct cmd cmd_view;
extern const struct cmd cmd_dump;
extern const struct cmd cmd_who;
extern const struct cmd cmd_replay;
extern const struct cmd cmd_leaks;
extern const struct cmd cmd_top;
extern const struct cmd cmd_ls;
extern const struct cmd cmd_doctor;
extern const struct cmd cmd_snapshot;
extern const struct cmd cmd_watch;
extern const struct cmd cmd_service;
extern const struct cmd cmd_serve;
extern const struct cmd cmd_push;
extern const struct cmd cmd_on;
extern const struct cmd cmd_off;
extern const struct cmd cmd_help;
extern const struct cmd cmd_completions;

/* Commands that belong together in the list. */
struct cmd_shelf {
	const char *title;
	const struct cmd *commands[16]; /* NULL ends them */
};

/* An entry without a title ends the list. */
extern const struct cmd_shelf cmd_shelves[];

/* NULL: there is no command of that name. */
const struct cmd *cmd_find(const char *name);

#endif

/* cmd_help.c - seep help: the same as seep --help and seep COMMAND --help. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/opts.h"

static int run(const struct cmd *self, int argc, char **argv)
{
	const struct cmd *c;

	if (opts_parse(self, argc, argv, NULL) == 0)
		return help_all();
	c = cmd_find(argv[1]);
	if (c)
		return help_command(c);
	help_die_unknown(argv[1]);
}

const struct cmd cmd_help = {
    .name = "help",
    .summary = "describe a command and its options",
    .operands = "[COMMAND]",
    .about = "Prints what COMMAND does and which options it has, or lists all "
             "commands.",
    .run = run,
};

/* cmd_completions.c - seep completions: prints the script for a shell. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "command/options/shell_complete.h"
#include "command/shell/die.h"
#include "command/shell/output.h"
#include "command/options/opts.h"

#define SHELLS "bash|zsh|fish"

static int run(const struct cmd *self, int argc, char **argv)
{
	static void (*const write[])(FILE * out) = {
	    shell_complete_bash, shell_complete_zsh, shell_complete_fish};
	int shell;

	(void)opts_parse(self, argc, argv, NULL);
	shell = values_word(SHELLS, argv[1]);
	if (shell < 0)
		die(CMD_USAGE, "%s: takes one of %s, not \"%s\"", self->name, SHELLS, argv[1]);
	else
		write[shell](stdout);
	return output_flush();
}

const struct cmd cmd_completions = {
    .name = "completions",
    .summary = "print command-line completions for your shell",
    .operands = SHELLS,
    .about = "Prints a script that teaches a shell to complete commands, options "
             "and PIDs of traced processes. \"make install\" puts them where the "
             "shells look; to try one:\n\n"
             "  source <(seep completions bash)\n"
             "  source <(seep completions zsh)\n"
             "  seep completions fish | source",
    .run = run,
};

/* help.h - the texts of --help, from the tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_HELP_H
#define SEEP_CLI_HELP_H

#include "cli/cmd.h"

/* Usage, what it does, its options, to stdout. What output_flush() says. */
int help_command(const struct cmd *c);

/* The list of commands; as above. */
int help_all(void);

/* One line, exit 2; says which command may have been meant. */
_Noreturn void help_die_unknown(const char *word);

#endif

/* help.h - prints the texts of --help, made from the tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELP_H
#define SEEP_HELP_H

#include "command/cmd.h"

/*
 * Prints usage, description and options to stdout. Returns as output_flush().
 */
int help_command(const struct cmd *c);

/* Prints the list of commands; returns the same. */
int help_all(void);

/* Prints one line with the most similar command, and exits with 2. */
_Noreturn void help_die_unknown(const char *word);

#endif

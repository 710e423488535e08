/* ls_print.h - prints one process as lines of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_LS_PRINT_H
#define SEEP_CLI_LS_PRINT_H

#include "cli/ls_row.h"

/* The headings of ls_print_process(). */
void ls_print_head(void);

/* Prints a process to stdout, and below it the file that it has. */
void ls_print_process(const struct ls_row *r);

#endif

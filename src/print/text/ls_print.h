/* ls_print.h - prints one process as lines of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LS_PRINT_H
#define SEEP_LS_PRINT_H

#include "findings/ls_row.h"

/*
 * The headings of ls_print_process(). On a terminal with few columns sizes are
 * rounded, the size of the file is left out, and the command is cut; 0: there is
 * no limit.
 */
void ls_print_head(unsigned columns);

/* Prints a process to stdout, and below it the file that it has. */
void ls_print_process(const struct ls_row *r, unsigned columns);

#endif

/* ls_print.h - prints one process as lines of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_LS_PRINT_H
#define SEEP_CLI_LS_PRINT_H

#include <sys/stat.h>

#include "reader/process.h"

/* The headings of ls_print_process(). */
void ls_print_head(void);

/* Prints a process to stdout, and below it its file, folder/name. */
void ls_print_process(const struct process *p, const struct stat *st,
    const char *folder, const char *name);

#endif

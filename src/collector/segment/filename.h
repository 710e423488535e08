/* filename.h - the names of the files that this process makes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FILENAME_H
#define SEEP_FILENAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fmt.h"

/*
 * All names have the form PROGRAM-PID-RANDOM and an ending. PROGRAM is what
 * the kernel calls the program when it starts, and RANDOM is drawn then. A
 * forked child inherits both.
 */

/* Finds PROGRAM and RANDOM. Start-up. */
void filename_choose(void);

/* PROGRAM; empty before filename_choose(). */
const char *filename_program(void);

/* Appends BEGIN-PID-RANDOM. */
void filename_write(struct fmt *f, const char *begin, uint64_t pid);

/*
 * Makes a text fit for the name of a file, in place. Letters, digits and "_.+"
 * stay, and dashes do if `dashes` says so. Other bytes become '_', and so does
 * a dot or a dash at the beginning.
 */
void filename_tame(char *text, bool dashes);

#endif

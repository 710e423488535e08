/* place_name.h - the names of the files that this process makes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PLACE_NAME_H
#define SEEP_PLACE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fmt.h"

/*
 * All names have the form PROGRAM-PID-RANDOM and an ending. PROGRAM is what
 * the kernel calls the program when it starts, and RANDOM is drawn then. A
 * forked child inherits both.
 */

/* Finds PROGRAM and RANDOM. Start-up. */
void place_name_choose(void);

/* PROGRAM; empty before place_name_choose(). */
const char *place_name_program(void);

/* Appends BEGIN-PID-RANDOM. */
void place_name_write(struct fmt *f, const char *begin, uint64_t pid);

/*
 * Makes a text fit for the name of a file, in place. Letters, digits and "_.+"
 * stay, and dashes do if `dashes` says so. Other bytes become '_', and so does
 * a dot or a dash at the beginning.
 */
void place_name_tame(char *text, bool dashes);

#endif

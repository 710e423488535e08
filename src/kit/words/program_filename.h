/* program_filename.h - makes a safe part of a file name from a program's name. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROGRAM_FILENAME_H
#define SEEP_PROGRAM_FILENAME_H

#include <stddef.h>

/*
 * Takes the last part of an untrusted path, and makes it a name that stays in
 * its directory and is no option. Letters, digits, "._+-" and visible
 * characters above ASCII are kept; all others become '_', and so does a first
 * '.' or '-'. "unknown" if nothing is left. Cut to fit into `bytes`. All names
 * of programs in file names come from here.
 */
void program_filename(const char *path, char *to, size_t bytes);

#endif

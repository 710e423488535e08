/* filename.h - the name of a program as a part of a file name of ours. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_FILENAME_H
#define SEEP_CLI_FILENAME_H

#include <stddef.h>

/*
 * A path comes from elsewhere: its last part, as a name that stays in its
 * directory and is no option. Letters, digits, "._+-" and whole characters
 * above ASCII that can be seen are kept, all else is '_', and so is a first
 * '.' or '-'; "unknown" where nothing is left. Cut to fit into `bytes`. The
 * only way in which the name of a program gets into the name of a file.
 */
void filename_of_program(const char *path, char *to, size_t bytes);

#endif

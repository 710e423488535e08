/* relative.h - modules that the loader has by a relative path. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_RELATIVE_H
#define SEEP_READER_RELATIVE_H

#include "reader/process.h"

/*
 * dlopen("./plugins/x.so"), a relative RPATH or LD_LIBRARY_PATH: the loader
 * notes the path as it was given, and the program may have been anywhere. Two
 * places are worth a look: below the directory where the process started, and
 * where /proc/PID/maps shows the file. Whether it is the one that ran is for
 * whoever opens it to find out, by its build-id.
 */

/* Is there a file behind this path, whose directory is not told? */
bool relative_is(const struct process_module *m);

/* Fills `full`, by header.start_dir. -ENOMEM. */
int relative_join(struct process *p);

/*
 * Fills `mapped` for a process that runs (running_pid), from its memory map.
 * Files that are deleted are left out. -ENOMEM; a map that cannot be read is
 * no error.
 */
int relative_look(struct process *p);

/* By what a file of the module is looked for first. Not NULL if path is not. */
const char *relative_path(const struct process_module *m);

/* Frees the texts of a module. */
void relative_release(struct process_module *m);

#endif

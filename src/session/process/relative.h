/* relative.h - modules that the loader knows by a relative path. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RELATIVE_H
#define SEEP_RELATIVE_H

#include "session/process/process.h"

/*
 * After dlopen("./plugins/x.so"), or with a relative RPATH or LD_LIBRARY_PATH,
 * the loader keeps the path as it was given, and the program may have been in
 * any directory. The file is searched for in two places: below the directory
 * where the process started, and where /proc/PID/maps shows the file. The
 * caller that opens it must compare its build-id, because it may be another
 * file.
 */

/* Is this the relative path of a file, whose directory is not known? */
bool relative_is(const struct process_module *m);

/* Fills `full`, by header.start_dir. -ENOMEM. */
int relative_join(struct process *p);

/*
 * Fills `mapped` for a process that runs (running_pid), from its memory map.
 * Files that are deleted are left out. -ENOMEM; a map that cannot be read is
 * no error.
 */
int relative_look(struct process *p);

/*
 * The path under which the module's file is searched first. Not NULL if path is
 * not.
 */
const char *relative_path(const struct process_module *m);

/* Frees the texts of a module. */
void relative_release(struct process_module *m);

#endif

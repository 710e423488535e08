/* export_path.h - where an export goes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_PATH_H
#define SEEP_EXPORT_PATH_H

#include "base/std.h"
#include "session/process/process.h"

/* The place of a result. */
struct export_path {
	char *path;      /* NULL: stdout */
	char **previous; /* earlier reports of this process, where %n counts */
	size_t previous_count;
};

/*
 * Fills ret, which must be empty, from the argument of -o: %e is the program,
 * %p its pid, %% a percent sign. %n is the first number whose file does not
 * exist; the files before it are the previous reports. NULL or "-": stdout.
 * Ends the program if out of memory.
 */
void export_path_choose(const char *pattern, const struct process *p, struct export_path *ret);

void export_path_release(struct export_path *e);

/*
 * Does the pattern (or NULL) contain this mark, 'n' or 'p', and not as part of
 * "%%n"?
 */
bool export_path_has(const char *pattern, char mark);

/* ---- export_at_end: exports a finished recording to another tool's format ---- */

/* Prints one line and exits with 2 unless there is a format of that name. */
void export_at_end_check(const char *command, const char *format);

/*
 * Writes PROGRAM-PID-NUMBER.EXTENSION into the working directory for each
 * process of the recording, as seep export does, and prints these names to
 * stderr unless `quiet`. A failure is printed there and changes nothing else.
 */
void export_at_end(const char *recording, const char *format, bool quiet);

#endif

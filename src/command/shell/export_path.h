/* export_path.h - the name of the file that export writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_PATH_H
#define SEEP_EXPORT_PATH_H

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

#endif

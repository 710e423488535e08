/* input.h - reads INPUT of a command line: a file, a directory or a PID. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INPUT_H
#define SEEP_INPUT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "session/load/session.h"

#define INPUT_DEFAULT "seep.data"

/* A sentence of the help of all commands that take an INPUT@MOMENT. */
#define INPUT_MOMENT_HELP \
	"INPUT@MOMENT is a recording or history at its last reading at or before a moment: " \
	"app.seep@10s, app.seep@50%, DIR@-2h, DIR@2026-11-15T12:00."

/*
 * Reads INPUT; the caller calls session_free(). Never NULL: if INPUT cannot be
 * read, the program prints one line and exits with 3. `text` NULL means
 * INPUT_DEFAULT. Notes go to stderr.
 *
 * INPUT@MOMENT is INPUT at its last reading at or before a moment (moment.h),
 * if no file has that name; the last @ counts. Then s->title names the reading.
 */
struct session *input_load(const char *text);

/* Of a text INPUT@MOMENT: INPUT, for free(), and *ret. NULL: it is none. */
struct moment;
char *input_of_moment(const char *text, struct moment *ret);

/* Prints one line about proc_open()'s error for this process, exits with 3. */
_Noreturn void input_die_pid(pid_t pid, int err, const struct fault *where);

/*
 * The directory that has the segment of the last process with this pid, which
 * has ended. False: there is none, as of a process that only a history knows.
 */
bool input_dead_directory(pid_t pid, char ret[PATH_MAX]);

/* Is it a PID? Digits alone are one; ./1234 is a file. */
bool input_is_pid(const char *text, pid_t *ret);

/* Exits with 2 unless `text` is a PID. */
pid_t input_pid(const char *command, const char *text);

/*
 * Two moments of the same processes, the later one first: a line on stderr, as
 * what grew looks as if it had shrunk.
 */
void input_warn_swapped(const char *command, const struct session *old, const struct session *new);

/* For --pid; 0: it was not given. If there is no such process: exit 3. */
void input_check_pid(const char *command, const struct session *s, unsigned pid);

#endif

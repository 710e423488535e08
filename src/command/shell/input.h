/* input.h - reads INPUT of a command line: a file, a directory or a PID. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INPUT_H
#define SEEP_INPUT_H

#include "base/std.h"
#include "print/export/export.h"
#include "session/events/session_log.h"
#include "session/events/events.h"
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
 * INPUT@MOMENT is INPUT at its last reading at or before a moment (words.h),
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

/* ---- log_input: the event logs of INPUT of a command line ---- */

/*
 * Reads all logs of INPUT (NULL: INPUT_DEFAULT), after input_load(). Returns how
 * many there are, of a recording its entries, or the result of a function of
 * `wish`. If they cannot be read, the program prints one line and exits with 3;
 * -EIO, -ENOSPC and -EDQUOT are returned.
 */
int log_input_read(const char *command, const char *input, const struct eventlogs_wish *wish,
    struct eventlogs_result *ret);

/* The same: feeds `events`. */
int log_input_feed(
    const char *command, const char *input, struct events *events, bool *ret_damaged);

/* The processes of the input that have a log made no event. */
bool log_input_is_empty(const struct session *s);

/* If no process of the input was traced at all: a line that says why, and exit 2. */
void log_input_untraced(const char *command, const char *input, const struct session *s);

/* There is none: one line that says why, and exit 2. */
_Noreturn void log_input_none(const char *command, const char *input, const struct session *s);

/*
 * For export: fills *ret if the log of this process has all of its events. The
 * strings and the session must outlive it.
 */
struct log_input {
	const char *command, *input;
	struct export_events events;
};
bool log_input_complete(struct log_input *ret, const struct session *s, uint32_t process);

/* ---- flight_input: the flight recorders of INPUT, for the commands that show them ---- */

/*
 * Calls `each` for each ring of INPUT (NULL: the default). If it cannot be
 * read, one line and exit 3; -EIO of `each` is no failure here.
 */
void flight_input_read(const char *command, const char *input, flights_each *each, void *context,
    struct flights_found *ret);

/* One line that says why there is none; exit 3 if it is damaged, else 2. */
_Noreturn void flight_input_none(const char *command, const char *input, const struct session *s,
    const struct flights_found *found);

/* Prints lines about what is missing. Returns the exit status. */
int flight_input_say(const struct flights_found *found);

/* ---- one_process: chooses the process for a format that holds one ---- */

/*
 * The process `pid` (0: any), or of several the one with the highest peak, which
 * a line on stderr says. With `logs`, only of those that have an event log. NULL:
 * there is none.
 */
const struct process *one_process_choose(
    const struct session *s, unsigned pid, bool logs, const char *format);

/* Its number in the session. */
uint32_t one_process_number(const struct session *s, const struct process *one);

/* ---- targets: the INPUTs of commands that follow what runs ---- */

/* As in struct engine_plan; kept as long as the program runs. */
struct targets {
	const pid_t *pids; /* NULL: all */
	size_t pid_count;
	const char *const *directories; /* NULL at the end; NULL itself: all */
};

/*
 * All of them processes, or all of them directories of segments. Otherwise the
 * program prints one line and ends: 2 for wrong use, 3 for what cannot be read.
 */
void targets_take(const char *command, char **inputs, size_t count, struct targets *ret);

#endif

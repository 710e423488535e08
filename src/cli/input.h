/* input.h - INPUT of a command line: a file, a directory or a PID. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_INPUT_H
#define SEEP_CLI_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "reader/session.h"

#define INPUT_DEFAULT "seep.data"

/*
 * Reads INPUT; for session_free(), never NULL. If it cannot be read, the
 * program ends with one line and exit 3. `text` NULL means INPUT_DEFAULT. Notes
 * go to stderr.
 */
struct session *input_load(const char *text);

/* One line about proc_open()'s error for this process, exit 3. */
_Noreturn void input_die_pid(pid_t pid, int err, const struct fault *where);

/* Digits alone are a PID; ./1234 is a file. */
bool input_is_pid(const char *text, pid_t *ret);

/* Exit 2 unless `text` is a PID. */
pid_t input_pid(const char *command, const char *text);

#endif

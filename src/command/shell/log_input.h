/* log_input.h - the event logs of INPUT of a command line. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOG_INPUT_H
#define SEEP_LOG_INPUT_H

#include <stdbool.h>

#include "print/export/export.h"
#include "session/events/eventlogs.h"
#include "session/events/events.h"
#include "session/load/session.h"

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

#endif

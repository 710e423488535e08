/* flight_input.h - the flight recorders of INPUT, for the commands that show them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHT_INPUT_H
#define SEEP_FLIGHT_INPUT_H

#include "session/events/flights.h"
#include "session/load/session.h"

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

#endif

/* event_opts.h - options that need the event log of an input. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENT_OPTS_H
#define SEEP_EVENT_OPTS_H

#include <stdint.h>

#include "session/load/session.h"
#include "view/sites/lifetimes.h"
#include "kit/words/moment.h"

/* Of the help of --at. */
#define EVENT_OPTS_AT \
	"(12.34 or 340ms after the first process started, 50%, -2h before " \
	"now, 2026-11-15T12:00), exact to 10 ms; needs an event log"

/*
 * All of these end the program if something is wrong: a moment that means
 * nothing, or an input without an event log, with exit 2; a log that cannot be
 * read with exit 3.
 */
void event_opts_parse(const char *command, const char *text, struct moment *ret);

/*
 * The session of INPUT becomes what it was at that moment. Returns the moment in
 * ms after the start of the first process. *ret_damaged is set if the log has
 * damage, which was said.
 */
uint64_t event_opts_set_back(const char *command, const char *input, struct session *s,
    const char *text, const struct moment *m, bool *ret_damaged);

/* For lifetimes_free(). */
struct lifetimes *event_opts_lifetimes(const char *command, const char *option, const char *input,
    struct session *s, uint32_t within, bool *ret_damaged);

#endif

/* flight_lines.h - the last events of each thread as lines of text, JSON or CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FLIGHT_LINES_H
#define SEEP_FLIGHT_LINES_H

#include <stdio.h>

#include "names/find/names.h"
#include "session/events/flights.h"
#include "session/load/session.h"
#include "print/text/event_lines.h"

struct flight_lines;

/*
 * The options are those of seep dump; `top` is for each thread. Borrows all;
 * -ENOMEM.
 */
int flight_lines_new(FILE *out, const struct session *s, struct names *names,
    const struct event_lines_options *o, struct flight_lines **ret);
void flight_lines_free(struct flight_lines *l); /* NULL is fine */

/* The heading of a table, if there was no event. */
void flight_lines_begin(struct flight_lines *l);

/* As flights_each. -EIO, -ENOMEM. */
int flight_lines_put(void *lines, const struct log_head *head, const struct flightring *ring);

/*
 * The name of a thread: of a running one as /proc has it, of a main thread that
 * of its program. Returns to, or NULL: it is not known.
 */
enum { FLIGHT_LINES_NAME = 32 };
const char *flight_lines_thread(const struct process *p, uint32_t tid, char to[FLIGHT_LINES_NAME]);

#endif

/* event_lines.h - events as lines of text, JSON or CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENT_LINES_H
#define SEEP_EVENT_LINES_H

#include "base/std.h"

#include <regex.h>

#include "findings/who.h"
#include "names/find/names.h"
#include "session/events/events.h"
#include "session/events/session_log.h"
#include "session/load/session.h"

enum event_lines_format { EVENT_LINES_TEXT, EVENT_LINES_JSONL, EVENT_LINES_CSV };

struct event_lines_options {
	enum event_lines_format format;
	bool stacks;            /* the call stack below each allocation */
	uint64_t from_ns;       /* since the first process started */
	uint64_t to_ns;         /* UINT64_MAX: to the end */
	uint64_t min_bytes;     /* smaller blocks are left out */
	unsigned columns;       /* of lines of text, without stacks; 0: no limit */
	uint64_t top;           /* as many events at most; 0: all */
	unsigned pid, thread;   /* 0: all; a thread by its tid or its number */
	unsigned site;          /* id; 0: all */
	const regex_t *include; /* a function of the stack; NULL: all */
	/* wanted events go there, and there are no lines; NULL: lines */
	events_each *sink;
	void *sink_context;
};

struct event_lines;

/* The session has the processes of the log. Borrows all; -ENOMEM. */
int event_lines_new(FILE *out, const struct session *s, struct names *names,
    const struct event_lines_options *o, struct event_lines **ret);
void event_lines_free(struct event_lines *l); /* NULL is fine */

/* The heading of a table; the first event comes after it in any case. */
void event_lines_begin(struct event_lines *l);

/* As events_each: 1 if no more lines are wanted; -EIO; -ENOMEM. */
int event_lines_put(void *lines, const struct events_event *e);

/*
 * The function of a site, cut in the middle if it does not fit into a line of
 * so many columns, of which some are used; columns 0: no limit.
 */
void event_lines_function(FILE *out, const struct log_place *at, unsigned columns, size_t used);

/* How many events were put that the options want. */
uint64_t event_lines_count(const struct event_lines *l);

/* ---- flight_lines: the last events of each thread as lines of text, JSON or CSV ---- */

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

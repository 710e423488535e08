/* event_lines.h - events of a log as lines of text, JSON or CSV. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENT_LINES_H
#define SEEP_EVENT_LINES_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "names/find/names.h"
#include "session/events/events.h"
#include "session/load/session.h"
#include "findings/log_places.h"

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

#endif

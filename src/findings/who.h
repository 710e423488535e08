/* who.h - the block that holds, or last held, an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WHO_H
#define SEEP_WHO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kit/json/json_put.h"
#include "names/find/names.h"
#include "session/events/flights.h"
#include "session/load/session.h"

enum who_state {
	WHO_UNKNOWN, /* no block is known */
	WHO_LIVE,    /* it is in use, or was when the process ended */
	WHO_FREED,
	WHO_RESIZED, /* realloc has given the block another address or size */
	WHO_GONE,    /* not in use, and its free is not known */
};

/* An event of the flight recorder, and the thread that made it. */
struct who_event {
	bool is_known;
	uint32_t thread;
	struct flightring_event event;
};

struct who_block {
	const struct process *process;
	enum who_state state;
	uint64_t address, size;
	uint32_t site;
	bool is_in_map; /* the live map of the running process has it */
	/*
	 * Allocated by a process from which this one was forked: that one, whose
	 * site it is. NULL: its records are not there.
	 */
	bool is_inherited;
	const struct process *ancestor;
	uint32_t birth; /* SEG_TICK_NS since `process` or `ancestor` started */
	bool is_birth_known;
	struct who_event allocated, freed;
	struct who_event again; /* a free of it when it was free already */
};

/* Searches the processes of a session. */
struct who;

/* -ENOMEM. */
int who_new(const struct session *s, uint64_t address, struct who **ret);
void who_free(struct who *w); /* NULL is fine */

/* As flights_each. */
int who_look(void *who, const struct log_head *head, const struct flightring *ring);

/*
 * Reads the live maps of those that run. Returns the number of maps that were
 * read; -ENOMEM. A map that cannot be read has a line in process.unread.
 */
int who_look_at_maps(struct who *w, unsigned pid);

/*
 * What is known of the i-th process of the session. False: nothing, but there
 * may be a block->again.
 */
bool who_answer(const struct who *w, size_t i, struct who_block *ret);

/* As text, with the stacks; and as one object of JSON. */
void who_print(FILE *out, struct names *names, uint64_t address, const struct who_block *b);
void who_print_json(
    struct json *out, struct names *names, uint64_t address, const struct who_block *b);

#endif

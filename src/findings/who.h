/* who.h - the block that holds, or last held, an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WHO_H
#define SEEP_WHO_H

#include "base/std.h"

#include <regex.h>

#include "format/format.h"
#include "kit/data/dict.h"
#include "kit/json/json_put.h"
#include "names/find/names.h"
#include "session/events/session_log.h"
#include "session/load/session.h"
#include "session/process/process.h"

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

/* ---- log_places: what lines of events say of the sites of one process ---- */

struct log_place {
	uint32_t id;
	bool has_stack; /* false: the process has no such site */
	bool is_wanted; /* a function matches, or all are wanted */
	uint32_t stack;
	/* innermost that is not operator new; NULL: not known */
	const char *name;
	char *function; /* the same as text, else module+offset or "?" */
};

/*
 * The sites that were asked for. Ids come from untrusted logs, so there is room
 * for those alone that the process has.
 */
struct log_places {
	const struct process *process; /* NULL: nothing is known of it */
	struct names *names;
	const regex_t *include; /* NULL: all are wanted */
	struct dict by_id;
	struct log_place *items;
	size_t count, room;
};

/* Valid until the next call. NULL: out of memory. */
const struct log_place *log_places_find(struct log_places *p, uint32_t id);

/* The caller owns the struct; it may be used again, for another process. */
void log_places_release(struct log_places *p);

/* ---- log_lack: says why a process has no event log ---- */

enum { LOG_LACK_BYTES = 256 };

/*
 * The reason, without a full stop. False: it has a log, or nobody asked for one.
 * The header is untrusted.
 */
bool log_lack_words(const struct seg_header *h, char ret[LOG_LACK_BYTES]);

#endif

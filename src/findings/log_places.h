/* log_places.h - what lines of events say of the sites of one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOG_PLACES_H
#define SEEP_LOG_PLACES_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names/find/names.h"
#include "session/process/process.h"
#include "kit/data/dict.h"

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

#endif

/* events.h - the events of a log: every free finds its allocation. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_EVENTS_H
#define SEEP_READER_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/logcode.h"

enum events_kind {
	EVENTS_ALLOC,
	EVENTS_FREE,
	EVENTS_REALLOC,   /* a free of old_site and an allocation of site */
	EVENTS_INHERITED, /* free of a block of the parent: site is its site */
	EVENTS_UNLOGGED,  /* free of a block whose allocation was lost */
	EVENTS_GAP,       /* events that are not in the log: count */
};

struct events_event {
	const struct logcode_head *process;
	enum events_kind kind;
	uint64_t tick; /* LOG_TICK_NS since the process started */
	uint32_t thread, tid;
	uint32_t name; /* of the block; 0: none */
	uint32_t site;
	uint64_t size;
	uint64_t address; /* 0: not logged */
	/* of EVENTS_FREE and EVENTS_REALLOC: what the block was */
	bool was_found; /* false: the log does not have its allocation */
	uint32_t old_site;
	uint64_t old_size;
	uint64_t born; /* tick */
	uint64_t count;
};

/*
 * Keeps the blocks that live. Logs are untrusted: words that make no sense are
 * skipped and counted, and there are at most as many blocks as words were fed.
 */
struct events;

/* `each` is called for each event; a result other than 0 ends the feeding. */
typedef int events_each(void *context, const struct events_event *e);
int events_new(events_each *each, void *context, struct events **ret);
void events_free(struct events *e); /* NULL is fine */

/* One entry. The result of `each`, or -ENOMEM. */
int events_feed(struct events *e, const struct logcode *c);

struct events_sums {
	uint64_t allocations, frees; /* a realloc is one of each */
	uint64_t inherited, unlogged, lost;
	uint64_t orphans; /* frees of what was never allocated */
	uint64_t strange; /* words that make no sense */
};
struct events_sums events_sums(const struct events *e);

#endif

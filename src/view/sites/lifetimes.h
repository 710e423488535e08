/* lifetimes.h - how long the blocks of a site live, from an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIFETIMES_H
#define SEEP_LIFETIMES_H

#include "session/events/events.h"
#include "session/load/session.h"

/*
 * Counts by value, exact below LIFETIMES_EXACT, above in LIFETIMES_EXACT steps
 * for each doubling, so to 1/16. All zero is empty.
 */
enum { LIFETIMES_EXACT = 16, LIFETIMES_CLASSES = 65 };

struct lifetimes_counts {
	uint64_t *bins;
	size_t room;
	uint64_t sum;
};

/* The smallest value that at least `percent` of all do not exceed; 0 if there are none. */
uint64_t lifetimes_percentile(const struct lifetimes_counts *c, unsigned percent);

/* By doublings: [0] is the value 0, [i] those from 2^(i-1) on. */
void lifetimes_classes(const struct lifetimes_counts *c, uint64_t ret[LIFETIMES_CLASSES]);

struct lifetimes_site {
	uint64_t freed; /* blocks; a realloc is no free here */
	uint64_t resized;
	struct lifetimes_counts ticks; /* of LOG_TICK_NS, from birth to free */
	/*
	 * Allocations of the thread that allocated or resized a block last, until
	 * it freed the block itself.
	 */
	struct lifetimes_counts between;
	/* freed or resized with at most `within` of these in between */
	uint64_t within_blocks, within_bytes;
};

/* Memory: that of the sites of the session. */
struct lifetimes;

/* Borrows the session, whose processes must stay in their places. -ENOMEM. */
int lifetimes_new(const struct session *s, uint32_t within, struct lifetimes **ret);
void lifetimes_free(struct lifetimes *l); /* NULL is fine */

/* As events_each, for a struct lifetimes. -ENOMEM. */
int lifetimes_see(void *lifetimes, const struct events_event *e);

/* By the numbers of process and site; never NULL. */
const struct lifetimes_site *lifetimes_site(const struct lifetimes *l, size_t process, size_t site);

uint32_t lifetimes_within(const struct lifetimes *l);

/* Events of sites or processes that the session does not have. */
uint64_t lifetimes_strange(const struct lifetimes *l);

#endif

/* logblocks.h - blocks and sites of an event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGBLOCKS_H
#define SEEP_LOGBLOCKS_H

#include "base/std.h"
#include "recording/log/logcode.h"

/* name 0: this place of the table is free */
struct logblocks_block {
	uint32_t name, site;
	uint64_t size, born; /* tick */
	uint32_t thread;     /* that allocated or resized it */
	/* allocations of that thread so far, this one included */
	uint32_t ordinal;
	uint64_t address; /* 0: not logged */
	uint64_t mark;    /* of whoever reads the events */
};

/*
 * Open addressing. All zero is an empty table. Names come from a file, so they
 * are mixed with a seed that differs in each run.
 */
struct logblocks {
	struct logblocks_block *at;
	unsigned bits;
	size_t count;
	uint64_t seed;
};

/* Replaces the block of this name, if there is one. -ENOMEM. */
int logblocks_put(struct logblocks *b, const struct logblocks_block *one);

/* Valid until the next call that changes the table; NULL: there is none. */
struct logblocks_block *logblocks_find(const struct logblocks *b, uint32_t name);

/* Removes a block. False: there is none. */
bool logblocks_take(struct logblocks *b, uint32_t name, struct logblocks_block *ret);

/* The next block from place *at on, in no order; NULL: there are no more. */
const struct logblocks_block *logblocks_next(const struct logblocks *b, size_t *at);

void logblocks_release(struct logblocks *b);

/* ---- logsites: counts of events by site, found by the site's id ---- */

/*
 * Open addressing; .reserved is 0 where a place is free. All zero is an empty
 * table.
 */
struct logsites {
	struct logindex_site *at;
	unsigned bits;
	size_t count;
	uint64_t seed;
};

/* The row of a site, zero if it is new; valid until the next call. NULL: -ENOMEM. */
struct logindex_site *logsites_row(struct logsites *s, uint32_t site);

/* The next row from place *at on, in no order; NULL: there are no more. */
const struct logindex_site *logsites_next(const struct logsites *s, size_t *at);

/* Adds; the sums do not wrap. */
void logsites_alloc(struct logindex_site *row, uint64_t bytes);
void logsites_free(struct logindex_site *row, uint64_t bytes);
void logsites_add(struct logindex_site *to, const struct logindex_site *from);

void logsites_release(struct logsites *s);

#endif

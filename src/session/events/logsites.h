/* logsites.h - counts of events by site, found by the site's id. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOGSITES_H
#define SEEP_LOGSITES_H

#include <stdbool.h>

#include "recording/log/logindex.h"

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

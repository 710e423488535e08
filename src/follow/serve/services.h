/* services.h - sums of the traced processes of each service. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SERVICES_H
#define SEEP_SERVICES_H

#include "follow/engine/engine.h"
#include "follow/history/folder_name.h"

/*
 * A service has the name of its folder in a history: printable ASCII, and no
 * two services share one. Forked children belong to the service of their
 * parent. Counters never fall: those of a process that has ended stay in the
 * sums of its service.
 */

/* Counters: what a process, or all processes so far, have added up. */
struct services_counts {
	uint64_t allocations, allocated_bytes, frees, freed_bytes, lost;
	uint64_t counts[SEG_COUNTS];
};

struct services_row {
	char name[FOLDER_NAME_BYTES];
	enum folder_kind kind;
	uid_t uid;
	struct services_counts ended; /* of those that are listed no more */
	struct services_counts all;
	/* of those that run; the limit is the smallest one, 0: none */
	uint64_t live_bytes, live_blocks, peak_bytes, resident;
	uint64_t limit, used, sample_bytes;
	size_t processes;
	uint64_t unread;  /* processes whose last look has read less than all */
	uint64_t used_ns; /* CLOCK_MONOTONIC, when one ran last */
};

struct services;

/* NULL: no memory. The engine outlives it. */
struct services *services_new(struct live *l);
void services_free(struct services *s); /* NULL is fine */

/* After each look of the engine. -ENOMEM: some are missing until the next. */
int services_update(struct services *s);

/* In the order in which they were met. */
size_t services_count(const struct services *s);
const struct services_row *services_at(const struct services *s, size_t i);

/* NULL: there is none of that name. */
const struct services_row *services_find(const struct services *s, const char *name);

/* The service of a process that is listed; NULL: none, there was no memory. */
const struct services_row *services_of(const struct services *s, const struct live_process *p);

#endif

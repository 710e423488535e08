/* eventlogs.h - all event logs of an input, entry by entry. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EVENTLOGS_H
#define SEEP_EVENTLOGS_H

#include <stdbool.h>
#include <sys/types.h>

#include "recording/log/logindex.h"
#include "kit/os/fault.h"

/* A result other than 0 ends the reading. */
typedef int eventlogs_each(void *context, const struct logcode *c);

/* Entries of a recording that have an index need not be read. */
enum eventlogs_way {
	EVENTLOGS_READ,
	EVENTLOGS_SKIP, /* `skip` gets its index instead */
	EVENTLOGS_DROP, /* nothing of it is wanted */
};

struct eventlogs_wish {
	eventlogs_each *each;
	/* both NULL: everything is read */
	enum eventlogs_way (*choose)(void *context, const struct logindex *x);
	int (*skip)(void *context, const struct logindex *x);
	void *context;
};

struct eventlogs_result {
	bool is_damaged;                 /* a part cannot be read */
	bool is_index_wrong;             /* an index differs from its entry: is_damaged */
	bool is_of_pools;                /* somebody else may have read parts before */
	uint64_t read, skipped, dropped; /* entries */
};

/*
 * The logs of a recording, of a segment file with its slots, or of a directory
 * of segments (pid 0); of a running process (path NULL); or of the last process
 * that had this pid, which has ended and whose segment is in the directory
 * `path`. They are only looked at: nothing is taken out of a pool. Returns the
 * number of logs, of a recording that of its entries; or the result of `each`,
 * or a negative errno.
 */
int eventlogs_read(const char *path, pid_t pid, const struct eventlogs_wish *wish,
    struct eventlogs_result *ret, struct fault *where);

#endif

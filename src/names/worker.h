/* worker.h - lookups in processes of their own, which may die. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_WORKER_H
#define SEEP_NAMES_WORKER_H

#include <sys/types.h>

#include "names/answer.h"
#include "names/lookup.h"

struct worker_limits {
	uint64_t memory_bytes;
	unsigned seconds;      /* of computing */
	unsigned wall_seconds; /* by the clock */
};

/* One lookup. All zero before worker_start(). */
struct worker {
	pid_t pid; /* 0: none runs */
	int fd;
	struct worker_limits limits;
	uint64_t deadline_ns;
	struct wire_in in;
	uint8_t *buffer;
	size_t len, room;
	bool complete;    /* all that was asked has been answered */
	bool interrupted; /* by SIGINT, from the terminal */
	bool late;        /* ended by deadline_ns of worker_wait() */
	bool left;        /* not even SIGKILL ended it */
	struct answer *answer;
	char why[128];       /* if not complete */
	char first_why[128]; /* the caller's: of an earlier try */
};

/*
 * What the process finds out goes into the table, under r->key, as it comes;
 * `answer` says which files it gets and must outlive it. 0; or an error of
 * fork() or socketpair(), and then there is nothing to end.
 */
int worker_start(struct worker *w, const struct lookup_request *r,
    struct table *t, struct answer *answer, const struct worker_limits *limits);

/*
 * Waits up to timeout_ms for answers of those that run, takes them, and ends
 * those that have finished, failed or taken too long. deadline_ns: none is to
 * run longer, by CLOCK_MONOTONIC; 0: as their limits say.
 */
void worker_wait(
    struct worker *list, size_t count, int timeout_ms, uint64_t deadline_ns);

#endif

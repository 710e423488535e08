/* worker.h - runs lookups in child processes, which may die. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WORKER_H
#define SEEP_WORKER_H

#include <sys/types.h>

#include "names/jail/file_answer.h"
#include "names/dwarf/lookup.h"

struct worker_limits {
	uint64_t memory_bytes;
	unsigned seconds;      /* of CPU time */
	unsigned wall_seconds; /* of elapsed time */
};

/* One lookup. Everything is zero before worker_start(). */
struct worker {
	pid_t pid; /* 0: none runs */
	int fd;
	struct worker_limits limits;
	uint64_t deadline_ns;
	struct wire_in in;
	uint8_t *buffer;
	size_t len, room;
	bool complete;    /* everything that was asked for has been answered */
	bool interrupted; /* by SIGINT, from the terminal */
	bool late;        /* ended by deadline_ns of worker_wait() */
	bool left;        /* even SIGKILL did not end it */
	struct answer *answer;
	char why[128];       /* why, if not complete */
	char first_why[128]; /* for the caller: about an earlier try */
};

/*
 * Starts a process. What it finds goes into the table under r->key as it
 * arrives; `answer` decides which files it gets and must outlive it. 0; or an
 * error of helper_start(), and then there is nothing to end.
 */
int worker_start(struct worker *w, const struct lookup_request *r, struct table *t,
    struct answer *answer, const struct worker_limits *limits);

/*
 * Waits up to timeout_ms for answers of running processes, takes them, and ends
 * the processes that have finished, failed or taken too long. deadline_ns: none
 * may run longer, by CLOCK_MONOTONIC; 0: only their own limits count.
 */
void worker_wait(struct worker *list, size_t count, int timeout_ms, uint64_t deadline_ns);

#endif

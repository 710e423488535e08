/* worker.h - runs lookups in child processes, which may die. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WORKER_H
#define SEEP_WORKER_H

#include "base/std.h"
#include "names/dwarf/lookup.h"
#include "names/find/places.h"
#include "names/jail/opener.h"

/* ---- file_answer: the parent's side of ask.h: which files the jail gets ---- */

/* Everything is zero but the first three fields, which are borrowed. */
struct answer {
	struct opener *opener;
	const struct places_search *search;
	const struct perfmap_process *who;
	/* private: about the module's file that was handed out last */
	bool has_module;
	uid_t module_owner;
	char module_path[ASK_PATH_BYTES]; /* without its root */
	size_t count;                     /* number of questions so far */
};

/*
 * Answers the body of an item WIRE_ASK, which was written by a process that may
 * be hostile. The answer goes to `fd`. The process can get files from the
 * places where files of its module are, and no others. -EBADMSG: not a valid
 * question, or one too many; -EPIPE.
 */
int file_answer_ask(struct answer *a, int fd, const uint8_t *body, size_t len);

/* ---- worker: runs lookups in child processes, which may die ---- */

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

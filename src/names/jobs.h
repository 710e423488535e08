/* jobs.h - lookups of many modules, some at a time, each with its retries. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_JOBS_H
#define SEEP_NAMES_JOBS_H

#include "names/cache.h"
#include "names/lookup.h"
#include "names/perfmap.h"
#include "reader/alive.h"

enum { JOBS_TWINS = 4 };

/* The places of one module, being looked for. */
struct job {
	uint32_t object;
	uint64_t *addresses; /* in order */
	size_t count;
	struct perfmap_process who; /* had it */
	bool is_relative;           /* see reader/relative.h */
	const char *mapped[2];      /* where it lay; ends with NULL */
	/* our own: */
	bool symbols_only;
	bool server_asked;
	char *given, *given_alt; /* files from a server */
	char root[32], namespace_root[ALIVE_ROOT_BYTES];
	const char *roots[4];
	const char *twins[JOBS_TWINS + 1];
	struct lookup_request request;
};

/* What all of them share; nothing is owned. */
struct jobs {
	const struct names_options *options;
	struct table *table;
	uint32_t nothing;        /* the chain that knows nothing */
	struct cache *cache;     /* NULL: none */
	const char *const *dirs; /* ends with NULL */
	uint64_t deadline_ns;    /* 0: none */
	uint64_t told_ns;        /* progress */
	bool interrupted;        /* from the terminal: no more of it */
	int server_error;        /* a server cannot be asked at all */
};

/*
 * There is neither its file nor debug information of its build-id, and the
 * state says so: nothing to be read.
 */
bool jobs_is_hopeless(struct jobs *s, struct job *j);

/*
 * Is there another file now under that name? Then what is known of the old one
 * is not used, though it may be in the cache: there are no names, and the
 * report says why. A file that is gone does no such harm.
 */
bool jobs_is_replaced(struct jobs *s, struct job *j);

/*
 * Runs them all. Answers are in the table; what goes wrong is in the state of
 * its object there. Names out of DWARF go to the cache.
 */
void jobs_run(struct jobs *s, struct job *jobs, size_t count);

#endif

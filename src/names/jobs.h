/* jobs.h - lookups of many modules, some at a time, each with its retries. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_JOBS_H
#define SEEP_NAMES_JOBS_H

#include "names/answer.h"
#include "names/cache.h"
#include "names/lookup.h"
#include "names/perfmap.h"
#include "reader/procfs.h"

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
	char root[32], namespace_root[PROCFS_ROOT_BYTES];
	const char *roots[4];
	const char *twins[JOBS_TWINS + 1];
	struct places_search search;
	struct lookup_request request;
	struct answer answer;
	/* what is in the places of the module's file, once looked at */
	bool is_looked_at;
	bool is_there;    /* a file with the right build-id */
	bool is_unknown;  /* or one without a build-id, which may be it */
	bool is_replaced; /* another file lies there now */
	int first_error;  /* of the likeliest place; 0: a file */
	struct opener_file first;
	struct cache_origin origin;
};

/* What all of them share; nothing is owned but by seek.c. */
struct jobs {
	const struct names_options *options;
	struct table *table;
	struct opener *opener;
	uint32_t nothing;        /* the chain that knows nothing */
	struct cache *cache;     /* NULL: none */
	const char *const *dirs; /* ends with NULL */
	uint64_t deadline_ns;    /* 0: none */
	uint64_t told_ns;        /* progress */
	size_t left;             /* processes that could not be ended */
	bool interrupted;        /* from the terminal: no more of it */
	int server_error;        /* a server cannot be asked at all */
};

/* Has the deadline passed, or has the user had enough? */
bool jobs_is_time_up(const struct jobs *s);

/* There is no time for this object any more; its state says so. */
void jobs_give_up(struct jobs *s, uint32_t object);

/* Names found earlier for the file that is there now. */
bool jobs_load(struct jobs *s, struct job *j);

/*
 * There is neither its file nor debug information of its build-id, and the
 * state says so: nothing to be read.
 */
bool jobs_is_hopeless(struct jobs *s, struct job *j);

/*
 * Runs them all. Answers are in the table; what goes wrong is in the state of
 * its object there. Names out of DWARF go to the cache.
 */
void jobs_run(struct jobs *s, struct job *jobs, size_t count);

#endif

/* seek.h - looks up many places: in the cache, the jail, servers, maps. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEEK_H
#define SEEP_SEEK_H

#include "host/proc/procfs.h"
#include "names/dwarf/lookup.h"
#include "names/find/wire.h"
#include "names/find/name_table.h"
#include "names/jail/worker.h"

/* All places of one object are looked up together, once. */
struct seek;

/* Borrows both. -ENOMEM. */
int seek_new(const struct names_options *options, struct table *t, struct seek **ret);

/* NULL is fine. */
void seek_free(struct seek *s);

/*
 * Notes a place for seek_run(), if the table does not have it, and the process
 * that had the object, because its files are looked for in that process's view
 * of the file system. -ENOMEM.
 */
int seek_add(struct seek *s, uint32_t object, uint64_t address, const struct perfmap_process *who);

/*
 * The object has a path whose directory is in doubt (session/process/family.h).
 * `mapped` is its path in the memory map while its program ran; NULL: not
 * known. -ENOMEM.
 */
int seek_relative(struct seek *s, uint32_t object, const char *mapped);
bool seek_is_relative(const struct seek *s, uint32_t object);

/*
 * Looks up all noted places as far as possible. Afterwards the table has each
 * of them; unknown ones have a chain without names.
 */
void seek_run(struct seek *s);

/* For an object: how many places were looked up, and how many have no name. */
void seek_counts(const struct seek *s, uint32_t object, size_t *ret_asked, size_t *ret_unknown);

/* Number of processes that even SIGKILL did not end. */
size_t seek_left(const struct seek *s);

/* The error of debuginfod_fetch() if servers could not be asked, else 0. */
int seek_server_error(const struct seek *s);

/* ---- jobs: looks up many modules, some at a time, with retries for each ---- */

enum { JOBS_TWINS = 4 };

/* One module whose addresses are being looked up. */
struct job {
	uint32_t object;
	uint64_t *addresses; /* in order */
	size_t count;
	struct perfmap_process who; /* had it */
	bool is_relative;           /* see session/process/family.h */
	const char *mapped[2];      /* where it was mapped; ends with NULL */
	/* private: */
	bool symbols_only;
	bool server_asked;
	char *given, *given_alt; /* files from a server */
	char root[32], namespace_root[PROCFS_ROOT_BYTES];
	const char *roots[4];
	const char *twins[JOBS_TWINS + 1];
	struct places_search search;
	struct lookup_request request;
	struct answer answer;
	/* the state of the module's file, once looked at */
	bool is_looked_at;
	bool is_there;    /* a file with the right build-id */
	bool is_unknown;  /* or one without a build-id, which may be it */
	bool is_replaced; /* another file lies there now */
	int first_error;  /* of the most likely place; 0: a file */
	struct opener_file first;
	struct cache_origin origin;
};

/* Data that all jobs share; only seek.c owns it. */
struct jobs {
	const struct names_options *options;
	struct table *table;
	struct opener *opener;
	uint32_t nothing;        /* the chain for unknown addresses */
	struct cache *cache;     /* NULL: none */
	const char *const *dirs; /* ends with NULL */
	uint64_t deadline_ns;    /* 0: none */
	uint64_t told_ns;        /* progress */
	size_t left;             /* processes that could not be killed */
	bool interrupted;        /* SIGINT from the terminal: start no more */
	int server_error;        /* asking servers is impossible */
};

/* Has the deadline passed, or has the user interrupted us? */
bool jobs_is_time_up(const struct jobs *s);

/* Records in the state of this object that there is no time for it. */
void jobs_give_up(struct jobs *s, uint32_t object);

/* Takes names from the cache for the file that is there now. */
bool jobs_load(struct jobs *s, struct job *j);

/*
 * Is there neither its file nor debug information for its build-id? Then the
 * state says so, and there is nothing to read.
 */
bool jobs_is_hopeless(struct jobs *s, struct job *j);

/*
 * Runs all jobs. The answers are in the table; errors are in the state of the
 * object there. Names from DWARF go to the cache.
 */
void jobs_run(struct jobs *s, struct job *jobs, size_t count);

#endif

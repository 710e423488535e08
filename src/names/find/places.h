/* places.h - where the file of a module and its debug information may be. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PLACES_H
#define SEEP_PLACES_H

#include "base/std.h"
#include "names/find/name_table.h"
#include "names/jail/ask.h"

/* What is known of the module, and where to look; owns nothing. */
struct places_search {
	const char *path; /* path of the module, as the program had it */
	const uint8_t *build_id;
	size_t build_id_bytes;    /* 0: not known */
	const char *const *roots; /* "" or other roots; ends with NULL */
	const char *const *dirs;  /* before /usr/lib/debug; ends with NULL */
	const char *given;        /* try this file first, or NULL */
	const char *given_alt;
	/*
	 * more places for the module's own file; each is NULL, or ends with
	 * NULL
	 */
	const char *const *mapped; /* where it lay while the program ran */
	const char *const *twins;  /* files that had the same build-id */
};

/* A place where a file may be. Finding one opens nothing. */
struct places_place {
	char path[ASK_PATH_BYTES];
	size_t root_bytes; /* the first bytes of path are one of the roots */
	bool by_id;        /* only the build-id says that it is the one */
	/* anybody may have put the file there, or chosen its name */
	bool check_owner;
	bool by_session; /* another process of the session named it */
};

/*
 * Place number n of the file of the module itself; place 0 is the most likely
 * one. False: there are no more.
 */
bool places_module(const struct places_search *s, size_t n, struct places_place *ret);

/*
 * Place number q->n of the file that is asked for; false: there are no more.
 * Names in questions come from foreign files. They lead only into the debug
 * directories and the directory of the module, except for a .dwo file, whose
 * owner must be checked.
 */
bool places_of(const struct places_search *s, const struct ask *q, struct places_place *ret);

/* ---- hints: sentences about modules whose names are missing ---- */

/*
 * A sentence that says why frames of this object have no name, or less than
 * possible, and what to do about it; the caller frees it. NULL: there is
 * nothing to say. asked: frames that were looked up; unknown: those of them
 * without a name.
 */
char *hints_sentence(const struct name_table_key *key, const struct name_table_state *state,
    bool is_relative, size_t asked, size_t unknown);

/* The same about malformed lines in the map of a process. */
char *hints_map(const struct name_table_key *key, const struct name_table_state *state);

/* Is its sentence about missing names, and not about a bad file? */
bool hints_is_lack(const struct name_table_state *state);

/* ---- package: which package of this Debian system a file belongs to ---- */

/*
 * The name of the package; the caller frees it. NULL: none, or not a Debian
 * system.
 */
char *package_of(const char *path);

/* ---- debuginfod: debug information from a server, if the user wants that ---- */

/*
 * Asks the servers of DEBUGINFOD_URLS through libdebuginfod, which keeps files
 * in its own cache. Takes at most so many seconds. *ret: the file's path; the
 * caller frees it. -ENOSYS: the library is not installed; -EDESTADDRREQ: no
 * server is named; -ENOENT: no server has it; -ETIMEDOUT, or another network
 * error.
 */
int debuginfod_fetch(const uint8_t *build_id, size_t build_id_bytes, unsigned seconds, char **ret);

/* ---- fs_view: do two processes see the same files under the same paths? ---- */

/*
 * A number for the mount namespace and the root of a running process. 0: they
 * are the same as ours, or the process has ended (pid 0), or they cannot be
 * found out; in the last case no file is read there. Uses only /proc, never the
 * other file systems.
 */
uint64_t fs_view_of(pid_t pid);

#endif

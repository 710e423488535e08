/* places.h - where the file of a module and its debug information may be. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PLACES_H
#define SEEP_PLACES_H

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

#endif

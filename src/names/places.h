/* places.h - where the file of a module and its debug information may be. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_PLACES_H
#define SEEP_NAMES_PLACES_H

#include "names/ask.h"

/* What is known of the module, and where to look; nothing is owned. */
struct places_search {
	const char *path; /* of the module, as the program knew it */
	const uint8_t *build_id;
	size_t build_id_bytes;    /* 0: not known */
	const char *const *roots; /* "" and the like, ends with NULL */
	const char *const *dirs;  /* before /usr/lib/debug; ends with NULL */
	const char *given;        /* this file first, or NULL */
	const char *given_alt;
	/* further places of the module's own file; each NULL, or ends so */
	const char *const *mapped; /* where it lay while the program ran */
	const char *const *twins;  /* files that had the same build-id */
};

/* A place where a file may be. Opens nothing. */
struct places_place {
	char path[ASK_PATH_BYTES];
	size_t root_bytes; /* the first bytes of path are one of the roots */
	bool by_id;        /* only the build-id says that it is the one */
	/* it lies where anybody may put files, or anybody could name it */
	bool check_owner;
	bool by_session; /* another process of the session named it */
};

/* The file of the module itself, the likeliest place first. */
bool places_module(
    const struct places_search *s, size_t n, struct places_place *ret);

/*
 * Place number q->n of what is asked for, false: there are no more. Names in
 * questions come from foreign files: none leads out of the debug directories
 * or of the directory of the module, but that of a .dwo file, whose owner is
 * to be looked at.
 */
bool places_of(const struct places_search *s, const struct ask *q,
    struct places_place *ret);

#endif

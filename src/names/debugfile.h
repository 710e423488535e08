/* debugfile.h - where debug information lies that is not in the module. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_DEBUGFILE_H
#define SEEP_NAMES_DEBUGFILE_H

#include <stdbool.h>

#include "names/objfile.h"

/* What is known of the module, and where to look; nothing is owned. */
struct debugfile_search {
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

/* A place where the file of the module may be. */
struct debugfile_place {
	char path[8192]; /* to be opened */
	const char
	    *name;  /* without the root: in it, or as long as the search */
	bool by_id; /* only the build-id says that it is the one */
};

/* Place n, from 0 on, the likeliest first; false: there are no more. */
bool debugfile_module(
    const struct debugfile_search *s, size_t n, struct debugfile_place *ret);

/*
 * The file that has the DWARF of a module: by build-id, or by the module's
 * .gnu_debuglink, where the checksum must fit unless the build-id does.
 * `module` may be NULL: it is not there. -ENOENT: there is none.
 */
int debugfile_find(const struct debugfile_search *s,
    const struct objfile *module, struct objfile *ret);

/*
 * Is anything at all where debug information by build-id would lie? Opens
 * nothing, so that it needs no jail.
 */
bool debugfile_is_there(const struct debugfile_search *s);

/*
 * The file that dwz has moved common parts to. 1: `debug` needs none;
 * -ENOENT: it needs one that is not here, whose build-id in hex is in ret_id.
 */
int debugfile_find_alt(const struct debugfile_search *s,
    const struct objfile *debug, struct objfile *ret, char ret_id[65]);

/* The symbols in .gnu_debugdata, a packed ELF file. -ENOENT: none. */
int debugfile_open_mini(const struct objfile *module, struct objfile *ret);

/* Lower case, two digits a byte, at most 32 bytes. */
void debugfile_hex(char to[65], const uint8_t *bytes, size_t len);

#endif

/* debugfile.h - where debug information lies that is not in the module. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_DEBUGFILE_H
#define SEEP_NAMES_DEBUGFILE_H

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
};

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

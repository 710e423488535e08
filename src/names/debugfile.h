/* debugfile.h - debug information that is not in the module itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_DEBUGFILE_H
#define SEEP_NAMES_DEBUGFILE_H

#include "names/objfile.h"

/*
 * All of this runs in the jail: files come from the parent, by ask.h through
 * ask_fd, and are taken only if they are the right ones.
 */
struct debugfile_search {
	int ask_fd;
	const uint8_t *build_id; /* of the module */
	size_t build_id_bytes;   /* 0: not known */
};

/* Loads a library that debugfile_open_mini() needs; before the jail. */
void debugfile_prepare(void);

/*
 * The file that has the DWARF of a module: by build-id, or by the module's
 * .gnu_debuglink, where the checksum must fit unless the build-id does.
 * `module` may be NULL: it is not there. -ENOENT: there is none.
 */
int debugfile_find(const struct debugfile_search *s,
    const struct objfile *module, struct objfile *ret);

/*
 * The file that dwz has moved common parts to. 1: `debug` needs none;
 * -ENOENT: it needs one that is not here, whose build-id in hex is in ret_id.
 */
int debugfile_find_alt(const struct debugfile_search *s,
    const struct objfile *debug, struct objfile *ret, char ret_id[65]);

/* The symbols in .gnu_debugdata, a packed ELF file. -ENOENT: none. */
int debugfile_open_mini(const struct objfile *module, struct objfile *ret);

#endif

/* debugfile.h - debug information that is not in the module itself. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEBUGFILE_H
#define SEEP_DEBUGFILE_H

#include "names/dwarf/objfile.h"

/*
 * All of this runs in the jail. Files come from the parent through ask_fd
 * (ask.h), and are used only if they are the right ones.
 */
struct debugfile_search {
	int ask_fd;
	const uint8_t *build_id; /* of the module */
	size_t build_id_bytes;   /* 0: not known */
};

/* Loads a library that debugfile_open_mini() needs; call it before the jail. */
void debugfile_prepare(void);

/*
 * The file that has the DWARF of a module: found by build-id, or by the
 * module's .gnu_debuglink, where the checksum must match unless the build-id
 * does. `module` may be NULL if its file is gone. -ENOENT: there is none.
 */
int debugfile_find(
    const struct debugfile_search *s, const struct objfile *module, struct objfile *ret);

/*
 * The file into which dwz has moved common parts. 1: `debug` needs none;
 * -ENOENT: it needs one that is not here; ret_id is its build-id in hex.
 */
int debugfile_find_alt(const struct debugfile_search *s, const struct objfile *debug,
    struct objfile *ret, char ret_id[65]);

/*
 * The symbols in .gnu_debugdata, a compressed ELF file. -ENOENT: there is none.
 */
int debugfile_open_mini(const struct objfile *module, struct objfile *ret);

#endif

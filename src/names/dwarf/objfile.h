/* objfile.h - the ELF files of a module, opened with care. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OBJFILE_H
#define SEEP_OBJFILE_H

#include "base/std.h"

#include <libelf.h>

/*
 * The file is untrusted and mapped. This runs in the jail, where a crash costs
 * nothing, also if the file is cut while it is mapped. The jail opens nothing
 * itself.
 */
struct objfile {
	Elf *elf;
	int fd;
	char *path;   /* where it was found, for those who look beside it */
	void *memory; /* instead of fd: an unpacked image, ours to free */
};

/* Takes ownership of fd, also on failure. -ENOEXEC: not ELF, or no memory. */
int objfile_open(int fd, const char *path, struct objfile *ret);

/* An image in memory from malloc(); takes ownership, also on failure. */
int objfile_open_memory(void *image, size_t len, struct objfile *ret);

/* f may be all zero, if it was never opened. */
void objfile_close(struct objfile *f);

/* Bytes of the build-id; 0: it has none. Valid as long as f. */
size_t objfile_build_id(const struct objfile *f, const uint8_t **ret);

/*
 * Has it this build-id? If build_id_bytes is 0, it is not known, and every file
 * will do.
 */
bool objfile_has_build_id(const struct objfile *f, const uint8_t *build_id, size_t build_id_bytes);

/*
 * crc32 of the whole file, as in .gnu_debuglink. False: unreadable, or more
 * than 4 GiB of data.
 */
bool objfile_crc(const struct objfile *f, uint32_t *ret);

/* The contents of a section, NULL: there is none. */
const void *objfile_section(const struct objfile *f, const char *name, size_t *ret_len);

/* Does it hold DWARF? */
bool objfile_has_debug_info(const struct objfile *f);

/*
 * Makes DWARF sections that we never use look empty, because unpacking them
 * would take most of the time.
 */
void objfile_hide_unneeded(struct objfile *f);

/* ---- debugfile: debug information that is not in the module itself ---- */

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

/* ---- buildid: the build-id of a file, read without trusting it ---- */

/*
 * Reads a few KiB of headers and notes, within fixed bounds. It is fuzzed, so
 * it needs no jail. Returns the bytes of the id; 0: it has none, or it is not a
 * 64-bit ELF file.
 */
int buildid_find(int fd, uint8_t ret[32]);

/* Lower case, two digits per byte, at most 32 bytes. */
void buildid_hex(char to[65], const uint8_t *bytes, size_t len);

#endif

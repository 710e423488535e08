/* objfile.h - one ELF file, opened with care. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OBJFILE_H
#define SEEP_OBJFILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif

/* objfile.h - one ELF file, opened with care. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_OBJFILE_H
#define SEEP_NAMES_OBJFILE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The file is untrusted, and mapped: this runs in the jail, where a crash or a
 * file that is cut under us costs nothing, and which opens nothing itself.
 */
struct objfile {
	Elf *elf;
	int fd;
	char *path;   /* where it was found, for those who look beside it */
	void *memory; /* instead of fd: an unpacked image, ours to free */
};

/* Takes fd over, also on failure. -ENOEXEC: not ELF, or no memory. */
int objfile_open(int fd, const char *path, struct objfile *ret);

/* An image in memory, from malloc(), taken over also on failure. */
int objfile_open_memory(void *image, size_t len, struct objfile *ret);

/* One that was never opened, all zero, is fine. */
void objfile_close(struct objfile *f);

/* Bytes of it, 0: it has none. Valid as long as f. */
size_t objfile_build_id(const struct objfile *f, const uint8_t **ret);

/* build_id_bytes == 0: not known, every file will do. */
bool objfile_has_build_id(
    const struct objfile *f, const uint8_t *build_id, size_t build_id_bytes);

/*
 * crc32 of the whole file, as .gnu_debuglink has it. False: unreadable, or
 * more than 4 GiB of data.
 */
bool objfile_crc(const struct objfile *f, uint32_t *ret);

/* The contents of a section, NULL: there is none. */
const void *objfile_section(
    const struct objfile *f, const char *name, size_t *ret_len);

/* Does it hold DWARF? */
bool objfile_has_debug_info(const struct objfile *f);

/*
 * DWARF sections that nobody asks here for look empty from now on: unpacking
 * them would take most of the time.
 */
void objfile_hide_unneeded(struct objfile *f);

#endif

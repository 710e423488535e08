/* elf_reader.h - reads ELF files in a process in a jail. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ELF_READER_H
#define SEEP_ELF_READER_H

#include "base/std.h"
#include "attach/program/elf.h"

enum { ELF_NEEDED_BYTES = 32768, ELF_VERSIONS_BYTES = 2048 };

/*
 * Plain data, because it was written by a process that may be hostile: each
 * text is NUL terminated, and no number is used as a pointer or an index
 * without a check.
 */
struct elf_facts {
	uint32_t elf_class, machine;
	uint8_t native; /* if false, the rest is empty */
	uint8_t dynamic;
	uint8_t has_sanitizer; /* one is linked in */
	uint8_t has_symbols, has_debug, has_mini;
	uint8_t is_go, is_rust;
	uint8_t id_bytes; /* of its build-id; 0: none */
	uint8_t id[32];
	uint32_t own;    /* bit i: it defines elf_family[i] itself */
	uint32_t inside; /* bit i: it defines a function of elf_inside[i] */
	char debuglink[ELF_LINK_BYTES];
	char interpreter[ELF_PATH_BYTES];
	char soname[ELF_PATH_BYTES];
	char runpath[ELF_PATH_BYTES];
	uint32_t needed_bytes;
	char needed[ELF_NEEDED_BYTES]; /* names, each with its NUL */
	/* versions of glibc's symbols, each with its NUL (elf_versions) */
	uint32_t needs_bytes, defines_bytes;
	char needs[ELF_VERSIONS_BYTES], defines[ELF_VERSIONS_BYTES];
};

/* malloc first, then the rest of the family. */
enum { ELF_FAMILY = 8 };
extern const char *const elf_family[ELF_FAMILY];

/* Allocators with functions of their own, which no preloaded library replaces. */
enum { ELF_INSIDE = 6 };
extern const struct elf_inside {
	const char *function, *allocator;
} elf_inside[ELF_INSIDE];

/* Is this name in a list of names, each with its NUL? */
bool elf_reader_lists(const char *list, uint32_t bytes, const char *name);

/*
 * The caller's process opens the files. A process in names/jail/jail, which is
 * started for the first one, parses them.
 */
struct elf_reader;

struct elf_reader *elf_reader_new(void); /* NULL: out of memory */
void elf_reader_free(struct elf_reader *r);

struct elf_file {
	const char *path;
	/*
	 * NULL, or the directory that is / for the path; no link leads out of
	 * it.
	 */
	const char *root;
	/*
	 * A file of this user chose the path. So the file must belong to him
	 * too, or both to root or us.
	 */
	bool is_chosen;
	uid_t chooser;
};

/*
 * May take as long as the file system likes. *ret_owner: the file's owner.
 * -ENOEXEC: not an ELF file; -EPERM: its user may not choose it; -EBADMSG:
 * damaged, or the process that reads it has died; or an error of infile_open().
 */
int elf_reader_read(
    struct elf_reader *r, const struct elf_file *file, struct elf_facts *ret, uid_t *ret_owner);

#endif

/* elf.h - reads what an ELF file says about its allocator and loader. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ELF_H
#define SEEP_ELF_H

#include "base/std.h"

#include <elf.h>

enum {
	ELF_PATH_BYTES = 1024,
	ELF_LINK_BYTES = 128,
	ELF_NEEDED_MAX = 256, /* DT_NEEDED entries; more are ignored */
};

/*
 * The file is untrusted. It is read by pread() within fixed bounds, and every
 * offset is checked against the file's size first. Runs in the jail only; other
 * code uses elf_reader.h.
 */
struct elf {
	int fd;
	uint64_t size;
	unsigned elf_class; /* 1: 32 bits, 2: 64 bits */
	unsigned data;      /* 1: little endian, 2: big */
	unsigned machine;
	bool native;                      /* same class, order and machine as ours: rest is valid */
	bool dynamic;                     /* has PT_DYNAMIC */
	char interpreter[ELF_PATH_BYTES]; /* "": none */
	char soname[ELF_PATH_BYTES];
	char runpath[ELF_PATH_BYTES]; /* DT_RUNPATH or DT_RPATH */
	char **needed;                /* DT_NEEDED, needed_count of them */
	size_t needed_count;
	uint64_t shoff;
	unsigned shnum, shentsize, shstrndx;
};

/*
 * Reads headers and dynamic section of an open file; takes ownership of fd,
 * also on failure. -ENOEXEC: not an ELF file; -EBADMSG: damaged; -ENOMEM.
 */
int elf_init(struct elf *e, int fd);
void elf_release(struct elf *e);

/*
 * Bit i of the result: names[i] is a defined global or weak symbol of the
 * dynamic table (with `all`, or of the full one). Damaged tables define
 * nothing.
 */
uint32_t elf_defines(const struct elf *e, const char *const *names, size_t count, bool all);

/* What the names of its sections say. */
struct elf_sections {
	bool has_symbols;               /* a full table of symbols */
	bool has_debug;                 /* DWARF */
	bool has_mini;                  /* a compressed table of symbols */
	char debuglink[ELF_LINK_BYTES]; /* a file with its DWARF, or "" */
	bool is_go, is_rust;
};
void elf_sections(const struct elf *e, struct elf_sections *ret);

/*
 * The versions of glibc's symbols that the file needs, or, without `needed`, all
 * versions that it defines itself: "GLIBC_2.17", each with its NUL. Those that
 * do not fit are left out. Returns the number of bytes.
 */
#define ELF_LIBC "libc.so.6"
size_t elf_versions(const struct elf *e, bool needed, char *to, size_t bytes);

/* ---- elf_parts: what the files of elf.h share: bounded reading of an ELF file ---- */

/* 0, or -EBADMSG if [offset, offset + len) is not in the file. */
int elf_read_at(const struct elf *e, void *to, size_t len, uint64_t offset);

/* The header of a section. -EBADMSG: there is none of this number. */
int elf_read_section(const struct elf *e, unsigned index, Elf64_Shdr *ret);

#endif

/* libraries.h - finds the libraries that the loader would load. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIBRARIES_H
#define SEEP_LIBRARIES_H

#include "attach/program/elf_reader.h"

struct libraries_program {
	const char *path;
	const struct elf_facts *facts;
	uid_t owner;
	/*
	 * A process of another user runs it. So a file may only lead to files
	 * of its owner, see struct elf_file.
	 */
	bool is_foreign;
	/* NULL, or the directory that is / for all paths (struct elf_file) */
	const char *root;
	/*
	 * NULL, or called for each library that was found, glibc's libc
	 * included.
	 */
	void (*found)(void *context, const char *path, const struct elf_facts *facts);
};

/*
 * Calls `each` for the names that the program, LD_PRELOAD and then the
 * libraries themselves ask for, until it returns false. `who` is the file that
 * asks, or "LD_PRELOAD". Up to 256 libraries are searched for: in RUNPATH,
 * LD_LIBRARY_PATH and the standard directories.
 */
void libraries_each(struct elf_reader *reader, const struct libraries_program *program,
    bool (*each)(void *context, const char *who, const char *name), void *context);

#endif

/* inspect_parts.h - the steps of inspect.h, for callers that may hang. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INSPECT_PARTS_H
#define SEEP_INSPECT_PARTS_H

#include "attach/program/elf_reader.h"
#include "attach/program/inspect.h"

/* Who will start the program, and where. */
struct inspect_how {
	bool is_foreign; /* a process of another user runs it */
	bool is_running; /* so it was decided whether it is secure */
	bool has_user;   /* not started by us, but by: */
	uid_t user;
	bool has_no_new_privs; /* setuid and capabilities have no effect */
	const char *root;      /* NULL, or the directory that is / for it */
};

/*
 * Keeps it, and makes the first one that is no remark the reason why the
 * program is not traced. Others of the same kind are ignored.
 */
void inspect_conclude(struct inspect *r, enum inspect_kind kind, const char *advice,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * Fills path and program as inspect_command() does: finds the file, and the
 * interpreter of a script. Errors as there. May hang.
 */
int inspect_find(const char *command, const char *root, struct inspect *ret);

/*
 * Judges r->program, which is read under the name `file`. Call this in a process
 * that may hang.
 */
void inspect_program(struct inspect *r, const char *file, const struct inspect_how *how);

#endif

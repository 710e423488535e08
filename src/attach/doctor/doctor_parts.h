/* doctor_parts.h - what the checks of doctor.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOCTOR_PARTS_H
#define SEEP_DOCTOR_PARTS_H

#include "attach/doctor/doctor.h"
#include "attach/program/elf_reader.h"
#include "attach/program/inspect_parts.h"

/*
 * Runs `look` in a child and takes over what it finds. Its result is the result,
 * 0 or a negative errno. If the child does not answer within a few seconds, a
 * finding says that `what` did not answer, and the result is -ETIMEDOUT.
 */
int doctor_apart(struct doctor_report *r, const char *what,
    int (*look)(struct doctor_report *r, void *context), void *context);

/* The findings of inspect.h, a line for each check. Call it apart. */
void doctor_program(struct doctor_report *r, const struct inspect *in, bool is_recorded);

/*
 * Modules whose names would be missing. doctor_names_add() fits struct
 * inspect_how: context is the struct. Call all of it apart.
 */
struct doctor_module;
struct doctor_names {
	struct doctor_module *list;
	size_t count, room;
	size_t seen; /* modules that were looked at */
	/* a module that can lock all memory (mlockall), or "" */
	char locker[256];
};
void doctor_names_add(void *context, const char *path, const struct elf_facts *facts);
void doctor_names(struct doctor_report *r, struct doctor_names *n);

/*
 * The Debian packages that have these files, from the lists of dpkg; owners[i]
 * is NULL or for free(). Takes a second at most.
 */
void doctor_packages(const char *const *paths, char **owners, size_t count);

/* The library that is preloaded: its path, or what is wrong with it. */
bool doctor_library(struct doctor_report *r, char path[4096]);

/* The directories for segments. Call it apart. */
void doctor_places(struct doctor_report *r);

/*
 * Limits of a process: those that leave no room for a segment, whose number is
 * the result; and the one on locked memory, if `locker` is a module of it that
 * can lock all memory, or "". Call both apart.
 */
size_t doctor_process_limits(struct doctor_report *r, pid_t pid);
void doctor_process_locked(struct doctor_report *r, pid_t pid, const char *locker);

/* Does seep watch run? Call it apart. */
void doctor_watch(struct doctor_report *r);

#endif

/* doctor_parts.h - what the checks of doctor.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOCTOR_PARTS_H
#define SEEP_DOCTOR_PARTS_H

#include "attach/doctor/doctor.h"
#include "attach/program/elf_reader.h"
#include "attach/program/inspect.h"

/*
 * Runs `look` in a child and takes over what it finds. Its result is the result,
 * 0 or a negative errno. If the child does not answer within a few seconds, a
 * finding says that `what` did not answer, and the result is -ETIMEDOUT.
 */
int doctor_apart(struct doctor_report *r, const char *what,
    int (*look)(struct doctor_report *r, void *context), void *context);

/* The findings of inspect.h, a line for each check. Call it apart. */
void doctor_program(struct doctor_report *r, const struct inspect *in, bool is_recorded);

/* The library that is preloaded: its path, or what is wrong with it. */
bool doctor_library(struct doctor_report *r, char path[4096]);

/* The directories for segments. Call it apart. */
void doctor_places(struct doctor_report *r);

/* ---- the variables that a process was started with: doctor_environment.c ---- */

/* Untrusted: a process may have written anything there. */
struct doctor_environment {
	char *text; /* NAME=VALUE, each with its NUL */
	size_t bytes;
	char *library; /* a copy, for doctor_environment_library() */
};

/* Errors as of foreign_text(); then it is empty. */
int doctor_environment_read(struct doctor_environment *e, pid_t pid);
void doctor_environment_release(struct doctor_environment *e);

/* NULL: not set. */
const char *doctor_environment(const struct doctor_environment *e, const char *name);

/* The path of the collector in LD_PRELOAD; NULL: it is not there. */
const char *doctor_environment_library(struct doctor_environment *e);

/* The same in any list that spaces or colons separate: for free(). */
char *doctor_environment_find(const char *list);

#endif

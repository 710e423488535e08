/* doctor_environment.h - the variables that a process was started with. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOCTOR_ENVIRONMENT_H
#define SEEP_DOCTOR_ENVIRONMENT_H

#include <stddef.h>
#include <sys/types.h>

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

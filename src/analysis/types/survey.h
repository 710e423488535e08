/* survey.h - reads the live blocks of a process: their types, and what could be given back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SURVEY_H
#define SEEP_SURVEY_H

#include <stdbool.h>
#include <sys/types.h>

#include "session/process/process.h"
#include "recording/parts/census.h"
#include "kit/os/fault.h"

/*
 * One reading of the memory, without a search for pointers, while the process
 * runs on. Of each block its beginning is read (types), or all of it (spare):
 * only pages that the process has, as in a look.
 */
struct survey_options {
	uint64_t max_bytes; /* of our memory; 0: a quarter of what is left */
	bool with_types, with_spare;
	bool is_waiting; /* for us, at its end: read without rests */
};

/* Errors as of look_take(). */
int survey_take(const struct process *p, pid_t pid, const struct survey_options *o,
    struct census *ret, struct fault *where);

#endif

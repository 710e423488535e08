/* survey.h - reads the live blocks of a process: their types, and what could be given back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SURVEY_H
#define SEEP_SURVEY_H

#include "base/std.h"
#include "analysis/leaks/look.h"
#include "kit/os/fault.h"
#include "recording/parts/census.h"
#include "session/process/process.h"

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

/* ---- types: the C++ class of a block, by its vtable ---- */

/* For sites with lost blocks; survey_parts.h says how a name is found. */
struct types_found {
	uint32_t site;
	const char *name; /* "app::Foo", see survey_parts.h */
};

struct types {
	struct types_found *at; /* by site, each once */
	size_t count, room;
	char *text; /* where names are */
};

/*
 * Of lost blocks of each site, some are looked at. What cannot be read has no
 * type. -ENOMEM.
 */
int types_read(pid_t pid, const struct looks *l, struct types *ret);
void types_release(struct types *t);

/* NULL: not known. */
const char *types_of(const struct types *t, uint32_t site);

#endif

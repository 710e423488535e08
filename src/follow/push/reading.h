/* reading.h - reads the counters of a process into the sums of its service. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READING_H
#define SEEP_READING_H

#include "names/find/names.h"
#include "follow/push/stack_sums.h"
#include "segments/read/segfile.h"

/* What a process had allocated at the last reading, by site. Zeros: nothing. */
struct reading_past {
	struct reading_site {
		uint32_t id;
		struct stack_sums_pair allocated;
	} * sites; /* by id */
	size_t count;
};

void reading_release(struct reading_past *past);

/*
 * From now on only what the process allocates later is new. Errors as of
 * session_load_slot().
 */
int reading_begin(struct reading_past *past, const struct segfile *f, int slot, pid_t pid);

/*
 * Adds the live blocks of a process, unless it `has_ended`, and what it has
 * allocated since the last reading. `pid`: as of session_load_slot(). Names of
 * new stacks are looked for, which takes seconds at most.
 * Errors as of session_load_slot(): nothing was added, nothing has changed.
 */
struct reading_plan {
	const struct segfile *file;
	int slot;
	pid_t pid;
	bool has_ended;
	const uint8_t *uuid; /* it must be this process */
	const struct names_options *naming;
};
int reading_take(struct stack_sums *b, struct reading_past *past, const struct reading_plan *plan,
    size_t *ret_merged);

#endif

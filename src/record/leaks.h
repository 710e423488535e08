/* leaks.h - record --leaks: looks for lost blocks while the tree runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_LEAKS_H
#define SEEP_RECORD_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/quota.h"
#include "record/segment_dir.h"
#include "trace/recording.h"

/*
 * Processes that end wait to be looked at, as long as we say that we are there
 * (reader/exit_wait.h); each one that runs is looked at every `every_ns` as
 * well. A child of ours does the looking and hands the verdicts over, so that
 * this process goes on meanwhile. What was found is appended to the recording,
 * entry by entry: the last one of a process counts.
 */
struct leaks_plan {
	const struct segment_dir *segment_dir;
	struct recording_writer *writer;
	struct quota *quota;
	uint64_t every_ns;
	pid_t alone; /* only this process, not its children; 0: all */
};

struct leaks;

/* Before the command starts: says that we are there. */
void leaks_announce(const struct segment_dir *segment_dir);

/* -ENOMEM. */
int leaks_new(const struct leaks_plan *plan, struct leaks **ret);

/* Until the next step is due. */
int leaks_wait_ms(const struct leaks *l);

/*
 * A step: who waits, who is due, what has been found. Errors of writing stick
 * in the writer; -ENOMEM.
 */
int leaks_step(struct leaks *l);

/*
 * The command has ended: lets those who wait still be looked at, for a few
 * seconds at most.
 */
int leaks_finish(struct leaks *l);

/* What the last looks at all processes found. */
struct leaks_found {
	size_t judged, leaking; /* processes */
	uint64_t blocks, bytes; /* LEAK */
};
void leaks_found(const struct leaks *l, struct leaks_found *ret);

/* Ends the children; who waits goes on when its time is over. NULL is fine. */
void leaks_free(struct leaks *l);

#endif

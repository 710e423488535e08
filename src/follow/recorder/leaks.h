/* leaks.h - record --leaks: looks for lost blocks while the tree runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_H
#define SEEP_LEAKS_H

#include <stdbool.h>
#include <stdint.h>

#include "follow/recorder/leaks_look.h"
#include "follow/recorder/quota.h"
#include "segments/find/segment_dir.h"
#include "recording/file/recording.h"

/*
 * Processes that end wait for a look, as long as we say that we are there
 * (segments/find/exit_hold.h). With `every_ns`, running processes are looked at as
 * well. A child of this process does that and hands over the verdicts, so that
 * this process can continue. Each result is appended to the recording; the last
 * one of a process counts.
 */
struct leaks_plan {
	const struct segment_dir *segment_dir;
	struct recording_writer *writer;
	struct quota *quota;
	uint64_t every_ns;
	pid_t alone;                        /* only this process, not its children; 0: all */
	const struct leaks_look_more *more; /* inventories; NULL: none */
};

struct leaks;

/* Call this before the command starts: it says that we are there. */
void leaks_announce(const struct segment_dir *segment_dir);

/* -ENOMEM. */
int leaks_new(const struct leaks_plan *plan, struct leaks **ret);

/* Time until the next step is due. */
int leaks_wait_ms(const struct leaks *l);

/*
 * One step: handles processes that wait, looks that are due, and results.
 * Errors stay in the writer; -ENOMEM.
 */
int leaks_step(struct leaks *l);

/* What is found from now on belongs to another recording. */
void leaks_turn(struct leaks *l, struct recording_writer *writer);

/*
 * After the end of the command: processes that still wait get their looks, for
 * a few seconds at most.
 */
int leaks_finish(struct leaks *l);

/*
 * The sums of the last verdicts on all processes. Each block counts once, in the
 * process that allocated it: all its forked children may have lost it, too.
 */
struct leaks_found {
	size_t judged, leaking; /* processes */
	size_t inheriting;      /* of these, lost blocks of their parents */
	uint64_t blocks, bytes; /* LEAK */
};
void leaks_found(const struct leaks *l, struct leaks_found *ret);

/*
 * Ends the children; a process that waits goes on when its time is over. NULL
 * is fine.
 */
void leaks_free(struct leaks *l);

#endif

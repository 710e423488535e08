/* rss_rounds.h - record --rss: reads resident pages while the tree runs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_ROUNDS_H
#define SEEP_RSS_ROUNDS_H

#include <stdint.h>
#include <sys/types.h>

#include "segments/find/segment_dir.h"
#include "recording/file/recording.h"

/*
 * Every every_ns all processes of the tree are read, one after the other, each
 * by a child of this process. The next round is not before a hundred times the
 * time that a round took, so that readings take at most one percent of a CPU.
 * They take at most a tenth of the recording: beyond that a reading is kept
 * until there is room or the recording ends, and a later one replaces it.
 */
struct rss_plan {
	const struct segment_dir *segment_dir;
	struct recording_writer *writer;
	uint64_t every_ns;
	pid_t alone; /* only this process, not its children; 0: all */
};

struct rss;

/* -ENOMEM. */
int rss_rounds_new(const struct rss_plan *plan, struct rss **ret);

/* Time until the next step is due. */
int rss_rounds_wait_ms(const struct rss *r);

/* Does not wait. Errors of writing stay in the writer; -ENOMEM. */
int rss_rounds_step(struct rss *r);

/* What is read from now on belongs to another recording. */
void rss_rounds_turn(struct rss *r, struct recording_writer *writer);

/* The recording ends: writes what was kept back. */
void rss_rounds_finish(struct rss *r);

/* Ends a child that is reading. NULL is fine. */
void rss_rounds_free(struct rss *r);

#endif

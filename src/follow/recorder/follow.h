/* follow.h - follows the process tree while it runs: time line, ended processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOLLOW_H
#define SEEP_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "follow/recorder/collect.h"
#include "segments/find/segment_dir.h"
#include "recording/file/recording.h"
#include "recording/file/codec.h"

struct follow_plan {
	const struct segment_dir *segment_dir;
	struct recording_writer *writer;
	struct collect *collect;    /* merges ended processes */
	struct collect_child child; /* running */
	uint64_t since_jiffies;
	uint64_t interval_ns; /* 0: stretches, see follow_interval() */
	uint64_t start_ns;    /* CLOCK_MONOTONIC: zero of the time line */
	uint64_t run_ns;      /* the same of the first chapter; 0: this is it */
};

/*
 * Reads the segments of the session and appends what changed. It uses at most
 * about one 60th of a CPU. The rate of the recording is bounded
 * (follow_allowance()): beyond it, sites are written less often, totals as
 * often as before. Errors of writing stay in the writer.
 */
struct follow;

/* Writes the mark of the start. -ENOMEM. */
int follow_new(const struct follow_plan *plan, struct follow **ret);

/* NULL is fine. */
void follow_free(struct follow *f);

/* Until the next look is due. */
int follow_wait_ms(const struct follow *f);

/* A look, if one is due. -ENOMEM, or as of the writer. */
int follow_look(struct follow *f);

/*
 * The last look of a chapter: processes that have ended are merged, figures of
 * the others written. The next chapter has a new struct follow.
 */
int follow_turn(struct follow *f);

/* The last look, when the command has ended: totals of all, marks, flush. */
int follow_finish(struct follow *f);

/* Nobody had the collector in it so far. */
bool follow_is_empty(const struct follow *f);

/* Was this process already reported as untraced? */
bool follow_told(const struct follow *f, pid_t pid, uint64_t start_jiffies);

/* 100 ms for the first 100 s, 1 s for the first hour, then 10 s. */
uint64_t follow_interval(uint64_t elapsed_ns);

/* The bytes that the time line may have at this time, with so many sites. */
uint64_t follow_allowance(uint64_t elapsed_ns, uint64_t sites);

#endif

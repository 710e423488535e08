/* follow.h - follows the process tree while it runs: time line, logs, ended processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOLLOW_H
#define SEEP_FOLLOW_H

#include "base/std.h"
#include "follow/recorder/collect.h"
#include "format/format.h"
#include "recording/file/codec.h"
#include "recording/file/recording.h"
#include "segments/find/segment_dir.h"

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

/* ---- drain: the event logs of a tree go into its recording ---- */

/*
 * Reads the pools of all processes that log: every 10 ms as long as there is
 * something, every 2 ms while one fills many chunks, less often if there is
 * nothing. What was read is written after a second at the latest.
 */
struct drain;

/* The log ends when its entries have about so many bytes. -ENOMEM. */
int drain_new(uint64_t limit_bytes, struct drain **ret);
void drain_free(struct drain *d); /* NULL is fine */

/*
 * A process of the tree, whose segment is that of the file `name`, or slot
 * `slot` of it. Nothing happens if it has no log, or is known. -ENOMEM.
 */
int drain_add(struct drain *d, const char *dir, const char *name, const struct seg_header *h);

/* Until the next look is due. */
int drain_wait_ms(const struct drain *d);

/* A look, if one is due. -ENOMEM, or an error of the recording. */
int drain_look(struct drain *d, struct recording_writer *w);

/* Everything that was read so far is written; at the end of a chapter. */
int drain_flush(struct drain *d, struct recording_writer *w);

/*
 * Before the segment of a process is written: reads all that it has left. If it
 * `is_over`, nothing more is asked of it.
 */
int drain_last(struct drain *d, const char *dir, const char *name, const struct seg_header *h,
    bool is_over, struct recording_writer *w);

/* Events in the recording, its bytes of log, and whether the limit was reached. */
struct drain_sums {
	uint64_t events, lost, bytes;
	bool is_full;
	uint64_t without;       /* processes that lack one */
	struct seg_header lack; /* of the first of these */
};
struct drain_sums drain_sums(const struct drain *d);

#endif

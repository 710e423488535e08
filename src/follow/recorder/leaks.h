/* leaks.h - readings of running processes: lost blocks, resident pages, ages. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LEAKS_H
#define SEEP_LEAKS_H

#include "base/std.h"
#include "follow/recorder/leaks_look.h"
#include "follow/recorder/quota.h"
#include "recording/file/recording.h"
#include "segments/find/segment_dir.h"

/*
 * Processes that end wait for a look, as long as we say that we are there
 * (segments/find/dead.h). With `every_ns`, running processes are looked at as
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

/* ---- rss_rounds: record --rss: reads resident pages while the tree runs ---- */

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

/* ---- aging_pace: when ages and births of a process are read again ---- */

/*
 * For who follows processes: `seep record` and `seep watch`. A process is read a
 * minute after it was met, and then again when it is a tenth older, every 1 to 10
 * minutes. All times are of CLOCK_MONOTONIC.
 */

/* After it was met, or a reading failed. */
uint64_t aging_pace_first(uint64_t now_ns);

/* After a reading of a process that began at start_ns. */
uint64_t aging_pace_next(uint64_t now_ns, uint64_t start_ns);

/* Before any other is read, after a reading that took so much CPU time. */
uint64_t aging_pace_rest(uint64_t now_ns, uint64_t cpu_ns);

#endif

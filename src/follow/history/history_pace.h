/* history_pace.h - how much a history may grow, and what time it is there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HISTORY_PACE_H
#define SEEP_HISTORY_PACE_H

#include "base/std.h"

/*
 * The time line of a service grows at a rate that follows from the size and
 * the time for which the history is kept, so that chapters of the whole time
 * fit. What comes once in a chapter (the first look, the last states, names)
 * has the rest.
 */
struct pace {
	uint64_t day_bytes;    /* of the time line */
	uint64_t start_ns;     /* of the chapter, CLOCK_MONOTONIC */
	uint64_t first_bytes;  /* of the first look */
	uint64_t totals_bytes; /* of looks without rows, unpacked */
};

/* For one service. */
uint64_t history_pace_day_bytes(uint64_t size_bytes, uint64_t keep_ns);

/* A chapter has at most so many bytes: 32 MiB, or an eighth of the size. */
uint64_t history_pace_chapter_bytes(uint64_t size_bytes);

/* May a look write the rows of sites, or at least the totals? */
bool history_pace_rows_due(const struct pace *p, uint64_t now_ns, uint64_t written);
bool history_pace_totals_due(const struct pace *p, uint64_t now_ns);

/* Between two looks at a chapter of this age. */
uint64_t history_pace_interval_ns(uint64_t age_ns);

/*
 * The clocks of the history. With SEEP_WATCH_CLOCK=N in the environment, which
 * is for tests alone, they run N times as fast from the first call on.
 */
uint64_t history_pace_monotonic_ns(void);
uint64_t history_pace_realtime_ns(void);

/*
 * Has the clock of the day gone on for an hour as the machine's own clock has?
 * A wrong date, which is corrected soon, must not make chapters look old. Called
 * at least once a minute.
 */
bool history_pace_is_steady(void);

/* How long to wait in fact for so much time to pass there. */
uint64_t history_pace_real_ns(uint64_t ns);

#endif

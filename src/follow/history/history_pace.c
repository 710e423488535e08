/* history_pace.c - how much a history may grow, and what time it is there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/history_pace.h"

#include "kit/os/clock.h"

#define S   UINT64_C(1000000000)
#define DAY (86400 * S)

enum {
	SHARE_PERCENT = 40, /* of the size, for the time line */
	CHAPTER_BYTES = 32 << 20,
	CHAPTER_PART = 8,   /* or one of so many parts of the size */
	BURST_PART = 24,    /* of a day: what a chapter has at once */
	BURST_BYTES = 4096, /* at least */
	TOTALS_PART = 4,    /* totals take at most so much of it */
	SCALE_MAX = 1000000,
	STEP_S = 600, /* more is not what NTP does to a clock that is right */
	STEADY_S = 3600,
};

uint64_t history_pace_day_bytes(uint64_t size_bytes, uint64_t keep_ns)
{
	double days = (double)keep_ns / (double)DAY;

	/* a history of hours has one chapter, which is turned in parts */
	if (days < 1)
		days = 1;
	return (uint64_t)((double)size_bytes * SHARE_PERCENT / 100 / days);
}

uint64_t history_pace_chapter_bytes(uint64_t size_bytes)
{
	uint64_t part = size_bytes / CHAPTER_PART;

	return part < CHAPTER_BYTES ? part : CHAPTER_BYTES;
}

/* What is allowed by now, beyond the first look. */
static double allowance(const struct pace *p, uint64_t now_ns)
{
	double day = (double)p->day_bytes;
	double burst = day / BURST_PART;
	double age = now_ns > p->start_ns ? (double)(now_ns - p->start_ns) : 0;

	if (burst < BURST_BYTES)
		burst = BURST_BYTES;
	return burst + day * (age / (double)DAY);
}

bool history_pace_rows_due(const struct pace *p, uint64_t now_ns, uint64_t written)
{
	return (double)written < (double)p->first_bytes + allowance(p, now_ns);
}

bool history_pace_totals_due(const struct pace *p, uint64_t now_ns)
{
	return (double)p->totals_bytes < allowance(p, now_ns) / TOTALS_PART;
}

uint64_t history_pace_interval_ns(uint64_t age_ns)
{
	return age_ns < 100 * S ? S : 10 * S;
}

static uint64_t scale(void)
{
	static uint64_t by;
	const char *text;
	char *end;

	if (by)
		return by;
	text = getenv("SEEP_WATCH_CLOCK");
	by = text ? strtoull(text, &end, 10) : 1;
	if (by < 1 || by > SCALE_MAX || (text && *end))
		by = 1;
	return by;
}

static uint64_t scaled(clockid_t id, uint64_t *first)
{
	uint64_t now = clock_ns(id);

	if (!*first)
		*first = now;
	return now < *first ? now : *first + (now - *first) * scale();
}

uint64_t history_pace_monotonic_ns(void)
{
	static uint64_t first;

	return scaled(CLOCK_MONOTONIC, &first);
}

uint64_t history_pace_realtime_ns(void)
{
	static uint64_t first, monotonic;

	/* by the other clock, so that the two go on together */
	if (scale() == 1)
		return clock_ns(CLOCK_REALTIME);
	if (!first) {
		first = clock_ns(CLOCK_REALTIME);
		monotonic = history_pace_monotonic_ns();
	}
	return first + (history_pace_monotonic_ns() - monotonic);
}

bool history_pace_is_steady(void)
{
	static uint64_t since_ns, offset_ns;
	uint64_t now = clock_ns(CLOCK_BOOTTIME);
	uint64_t offset = clock_ns(CLOCK_REALTIME) - now;
	uint64_t step = offset > offset_ns ? offset - offset_ns : offset_ns - offset;

	if (scale() > 1)
		return true; /* one clock is made of the other */
	if (since_ns == 0 || step > STEP_S * S)
		since_ns = now;
	offset_ns = offset;
	return now - since_ns >= STEADY_S * S;
}

uint64_t history_pace_real_ns(uint64_t ns)
{
	return ns / scale();
}

/* tick.c - coarse time: one word in tenths of a second. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/tick.h"

#include "base/sys.h"
#include "collector/segment/segment.h"
#include "format/cell.h"

uint32_t tick_word SEEP_HOT;
static uint64_t start_ns;
static tick_clock *get_time;

void tick_use_clock(tick_clock *clock)
{
	get_time = clock;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (get_time ? get_time(clock, &t) : sys_call(SYS_clock_gettime, clock, (long)&t, 0, 0))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t tick_start(bool exact)
{
	start_ns = clock_ns(exact ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_COARSE);
	tick_word = 0;
	return start_ns;
}

uint64_t tick_read(void)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC_COARSE);
	/* the coarse clock may be behind the exact one we started from */
	uint64_t since = ns > start_ns ? (ns - start_ns) / SEG_TICK_NS : 0;
	/* a cell has no room for more: the clock stops, after 6.8 years */
	uint32_t t = since < CELL_BIRTH_MAX ? (uint32_t)since : CELL_BIRTH_MAX;

	if (t > LOAD(&tick_word)) {
		/* never back: a block could be freed before its birth */
		RAISE(&tick_word, t);
		STORE(&segment.header->tick, t);
	}
	return ns;
}

uint64_t tick_since(uint64_t ns)
{
	return ns > start_ns ? ns - start_ns : 0;
}

uint32_t tick_moment(uint32_t *ret_after_ns)
{
	uint64_t ns = tick_read();
	uint64_t since = ns > start_ns ? ns - start_ns : 0;

	*ret_after_ns = (uint32_t)(since % SEG_TICK_NS);
	return (uint32_t)(since / SEG_TICK_NS);
}

uint64_t tick_realtime(bool exact)
{
	return clock_ns(exact ? CLOCK_REALTIME : CLOCK_REALTIME_COARSE);
}

/* test_c_tick.c - promises of tick.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "collector/segment/segment.h"
#include "collector/segment/tick.h"
#include "format/cell.h"

static uint64_t now_ns = UINT64_C(1000) * SEG_TICK_NS;

static int scripted_time(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	ret->tv_sec = (time_t)(now_ns / 1000000000);
	ret->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

static struct seg_header header;

static void after(uint64_t ticks, uint32_t expected)
{
	now_ns += ticks * SEG_TICK_NS;
	tick_read();
	assert_int_equal(tick_now(), expected);
	assert_int_equal(header.tick, expected);
}

TEST(the_clock_stops_where_a_cell_has_no_room_for_more)
{
	segment.header = &header;
	tick_use_clock(scripted_time);
	tick_start(true);
	after(5, 5);
	after(CELL_BIRTH_MAX - 6, CELL_BIRTH_MAX - 1);
	after(1, CELL_BIRTH_MAX);
	after(1, CELL_BIRTH_MAX);
	after(UINT64_C(1) << 31, CELL_BIRTH_MAX); /* where 32 bits end, too */
	after(7, CELL_BIRTH_MAX);
}

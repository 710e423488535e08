/* aging_pace.c - when ages and births of a process are read again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/aging_pace.h"

#include "analysis/score/scores.h"

#define S UINT64_C(1000000000)

enum {
	LOAD = 60, /* rest so many times as long as a reading took */
	FIRST_S = 60,
	MOST_S = 600,
	PART = 10, /* again when it is a tenth older */
};

/* Tests see hours pass in seconds. */
static uint64_t real_ns(uint64_t ns)
{
	return (uint64_t)((double)ns / scores_clock());
}

uint64_t aging_pace_first(uint64_t now_ns)
{
	return now_ns + real_ns(FIRST_S * S);
}

uint64_t aging_pace_next(uint64_t now_ns, uint64_t start_ns)
{
	uint64_t least = FIRST_S * S, most = MOST_S * S, wait = least;

	if (now_ns > start_ns)
		wait = (uint64_t)((double)(now_ns - start_ns) * scores_clock() / PART);
	wait = wait < least ? least : wait > most ? most : wait;
	return now_ns + real_ns(wait);
}

uint64_t aging_pace_rest(uint64_t now_ns, uint64_t cpu_ns)
{
	return now_ns + cpu_ns * LOAD;
}

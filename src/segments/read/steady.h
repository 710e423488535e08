/* steady.h - the clock of a process, and whether reading it took too long. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STEADY_H
#define SEEP_STEADY_H

#include "base/std.h"
#include "format/format.h"
#include "kit/os/clock.h"

enum { STEADY_TRIES = 4, STEADY_NS = 100000 };
struct steady {
	uint64_t start_ns;
	int tries;
};

/*
 * Frees are read in a first pass, allocations in a second: what is freed in
 * between looks live. Should we have lost the CPU there, that may be much:
 * true, read it once more.
 *
 *	struct steady s = steady_begin();
 *	do
 *		err = read_both(...);
 *	while (err == 0 && steady_was_late(&s));
 */
static inline struct steady steady_begin(void)
{
	return (struct steady){.start_ns = clock_ns(CLOCK_MONOTONIC)};
}

static inline bool steady_was_late(struct steady *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool late = now - s->start_ns >= STEADY_NS;

	s->start_ns = now;
	return late && ++s->tries < STEADY_TRIES;
}

/* ---- ticks: the current time in ticks of a process ---- */

/* The current tick of a running process; 0: it is not known. */
static inline uint64_t ticks_now(const struct seg_header *h)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC);

	if (h->tick_ns == 0 || ns < h->start_monotonic_ns)
		return 0;
	return (ns - h->start_monotonic_ns) / h->tick_ns;
}

#endif

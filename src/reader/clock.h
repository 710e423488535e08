/* clock.h - what time it is, in nanoseconds and in a process's ticks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_CLOCK_H
#define SEEP_READER_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "trace/format.h"

static inline uint64_t
clock_ns(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Now, as a running process would count; 0: it cannot be told. */
static inline uint64_t
clock_tick(const struct seg_header *h)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC);

	if (h->tick_ns == 0 || ns < h->start_monotonic_ns)
		return 0;
	return (ns - h->start_monotonic_ns) / h->tick_ns;
}

#endif

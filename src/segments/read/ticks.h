/* ticks.h - the current time in ticks of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TICKS_H
#define SEEP_TICKS_H

#include <stdint.h>

#include "format/format.h"
#include "kit/os/clock.h"

/* The current tick of a running process; 0: it is not known. */
static inline uint64_t ticks_now(const struct seg_header *h)
{
	uint64_t ns = clock_ns(CLOCK_MONOTONIC);

	if (h->tick_ns == 0 || ns < h->start_monotonic_ns)
		return 0;
	return (ns - h->start_monotonic_ns) / h->tick_ns;
}

#endif

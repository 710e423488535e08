/* clock.h - the current time in nanoseconds. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLOCK_H
#define SEEP_CLOCK_H

#include "base/std.h"

static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	(void)clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

#endif

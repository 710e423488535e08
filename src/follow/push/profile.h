/* profile.h - the sums of a service as a profile that a server takes. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PROFILE_H
#define SEEP_PROFILE_H

#include "print/export/export.h"
#include "follow/push/stack_sums.h"

enum {
	PROFILE_SAMPLES = 4000,     /* at most */
	PROFILE_UNPACKED = 4 << 20, /* bytes, at most */
};

struct profile {
	uint8_t *bytes; /* gzip; for free() */
	size_t len, unpacked;
	size_t samples;
	size_t merged; /* stacks in "(other)" for lack of room */
};

/*
 * What is live as inuse_*, and what is being sent as alloc_*. If there are more
 * stacks than a server takes, the smallest ones are "(other)"; the sums are
 * exact. -ENOMEM; -EFBIG: not even the smallest profile fits.
 */
int profile_make(
    const struct stack_sums *b, const struct export_moment *moment, struct profile *ret);

#endif

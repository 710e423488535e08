/* limits.h - the limits of the memory of a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIMITS_H
#define SEEP_LIMITS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { AGING_LIMITS = 8 };

/* A bound of the memory of the process; numbers never change their meaning. */
enum aging_limit_kind {
	AGING_LIMIT_GROUP = 1,      /* memory.max, limit_in_bytes */
	AGING_LIMIT_GROUP_HIGH = 2, /* memory.high, soft_limit_in_bytes */
	AGING_LIMIT_SPACE = 3,      /* RLIMIT_AS */
	AGING_LIMIT_DATA = 4,       /* RLIMIT_DATA */
	AGING_LIMIT_MACHINE = 5,    /* MemTotal; used: what is not available */
};
struct aging_limit {
	uint32_t kind; /* enum aging_limit_kind, or one of a later version */
	uint64_t limit, used;
};

/*
 * The limits of its memory cgroups (of version 1 and 2, those above it too), of
 * RLIMIT_AS and RLIMIT_DATA, and of the machine; of each kind the one with the
 * least room. Page cache that the kernel can drop is not counted as used.
 * Returns how many.
 */
size_t limits_read(pid_t pid, struct aging_limit ret[AGING_LIMITS]);

/* Those of a memory cgroup and the ones above it alone. */
struct procfs_group;
size_t limits_of_group(const struct procfs_group *g, struct aging_limit ret[AGING_LIMITS]);

#endif

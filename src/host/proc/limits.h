/* limits.h - the limits of the memory of a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LIMITS_H
#define SEEP_LIMITS_H

#include <sys/types.h>

#include "recording/parts/aging.h"

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

/* cgroup.h - what the memory cgroups of this process have left. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CGROUP_H
#define SEEP_CGROUP_H

#include <stdint.h>

/*
 * Bytes that may still be used before the tightest limit on the way to the root
 * is reached; UINT64_MAX: no limit. Page cache that the kernel would free
 * counts as unused, because a container that has read files is full of it.
 * Start-up.
 */
uint64_t cgroup_left(void);

#endif

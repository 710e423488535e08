/* oom.h - has the OOM killer of the kernel killed processes in our cgroup? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OOM_H
#define SEEP_OOM_H

#include <stdint.h>

/* Number of processes it has killed there so far; 0 if nobody counts them. */
uint64_t oom_kills(void);

#endif

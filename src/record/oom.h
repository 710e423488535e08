/* oom.h - has the kernel's OOM killer been at work in our memory cgroup? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RECORD_OOM_H
#define SEEP_RECORD_OOM_H

#include <stdint.h>

/* Processes it has killed there so far; 0 where nobody counts. */
uint64_t oom_kills(void);

#endif

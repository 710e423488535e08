/* aging_pace.h - when ages and births of a process are read again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_AGING_PACE_H
#define SEEP_AGING_PACE_H

#include <stdint.h>

/*
 * For who follows processes: `seep record` and `seep watch`. A process is read a
 * minute after it was met, and then again when it is a tenth older, every 1 to 10
 * minutes. All times are of CLOCK_MONOTONIC.
 */

/* After it was met, or a reading failed. */
uint64_t aging_pace_first(uint64_t now_ns);

/* After a reading of a process that began at start_ns. */
uint64_t aging_pace_next(uint64_t now_ns, uint64_t start_ns);

/* Before any other is read, after a reading that took so much CPU time. */
uint64_t aging_pace_rest(uint64_t now_ns, uint64_t cpu_ns);

#endif

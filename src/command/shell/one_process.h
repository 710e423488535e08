/* one_process.h - chooses the process for a format that holds one. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ONE_PROCESS_H
#define SEEP_ONE_PROCESS_H

#include "session/load/session.h"

/*
 * The process `pid` (0: any), or of several the one with the highest peak, which
 * a line on stderr says. With `logs`, only of those that have an event log. NULL:
 * there is none.
 */
const struct process *one_process_choose(
    const struct session *s, unsigned pid, bool logs, const char *format);

/* Its number in the session. */
uint32_t one_process_number(const struct session *s, const struct process *one);

#endif

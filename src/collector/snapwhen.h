/* snapwhen.h - snapshots that the host does not ask for: signal, time, growth. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SNAPWHEN_H
#define SEEP_COLLECTOR_SNAPWHEN_H

#include <stdbool.h>

#include "trace/format.h"

/*
 * All by opt-in, because a host can notice. There is no thread and no timer:
 * SEEP_EVERY is looked at by the events of the host, so an idle process takes
 * no snapshot; SEEP_SIGNAL has a handler, which writes it whatever the process
 * does.
 */

/* SEEP_EVERY was given: snapwhen_poll() has something to look at. */
extern bool snapwhen_active;

/* Once, in the constructor, when all else is ready; h tells what came of it. */
void snapwhen_start(struct seg_header *h);

/* A forked child counts time and growth anew; the handler is still there. */
void snapwhen_restart(struct seg_header *h);

/* Takes a snapshot if one is due; of several threads, one does. */
void snapwhen_poll(void);

#endif

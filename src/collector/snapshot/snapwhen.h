/* snapwhen.h - snapshots that the host does not ask for: signal, time, growth. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAPWHEN_H
#define SEEP_SNAPWHEN_H

#include <stdbool.h>

#include "format/format.h"

/*
 * All of this is off unless the user asks for it, because a host can notice it.
 * There is no thread and no timer: the events of the host look whether
 * SEEP_EVERY is due, so an idle process takes no snapshot. SEEP_SIGNAL installs
 * a handler, which writes a snapshot whatever the process is doing.
 */

/* SEEP_EVERY was given, so call snapwhen_poll(). */
extern bool snapwhen_active;

/* Once, in the constructor, when all else is ready. Writes the outcome to h. */
void snapwhen_start(struct seg_header *h);

/* In a forked child: time and growth begin again; the handler is inherited. */
void snapwhen_restart(struct seg_header *h);

/* Takes a snapshot if one is due; if several threads come, one of them does. */
void snapwhen_poll(void);

#endif

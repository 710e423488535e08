/* pace.h - how often a thread looks at the clock and the command word. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_PACE_H
#define SEEP_PACE_H

#include <stdbool.h>

#include "collector/thread.h"

/*
 * Looks at both, and decides after how many events this thread looks again. By
 * the busy thread itself, if its countdown is over or the command word has
 * changed. False: recording has just been switched off, so this event is not
 * recorded. A signal handler that comes meanwhile does not get here.
 */
bool pace_look(struct thread *t);

/* For the next owner of a block; and a thread that begins looks at its first event. */
void pace_forget(struct thread *t);
void pace_begin(struct thread *t);

/* If recording is off, the busy caller rests in OFF from now on: false. */
bool pace_follow_mode(struct gate *g);

#endif

/* exit_hold.h - processes that wait at exit until they have been read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXIT_HOLD_H
#define SEEP_EXIT_HOLD_H

#include <stdbool.h>

#include "format/format.h"

/*
 * With SEEP_LEAKS=1, a process that calls exit() waits as long as a reader
 * beats, so that its heap can be read as the program leaves it. It waits no
 * longer than SEG_BEAT_SECONDS after the last beat.
 *
 * There is one control block for each segment file. It serves the process of
 * that file and all forked children that have a slot there or a link to it. The
 * file may belong to another user, who can change it at any time. So only its
 * magic is read, and no memory of it is touched.
 */
struct exit_wait;

/*
 * `segment` is the name of a segment file in this directory; close with
 * exit_hold_close(). The control file must have the same owner as that file, so
 * that nobody can make us write elsewhere. -ENODATA: there is no valid control
 * block; -ENOMEM, or an error of openat() or mmap().
 */
int exit_hold_open(int dir, const char *segment, struct exit_wait **ret);

/* Says that a reader is there. Twice a second is often enough. */
int exit_hold_beat(struct exit_wait *w);

/* Is this process waiting? The header must have been read just now. */
bool exit_hold_is_on(const struct seg_header *h);

/* Lets the process with this header go on to its end. */
int exit_hold_end(struct exit_wait *w, const struct seg_header *h);

/* NULL is fine. Processes that still wait go on when their time is over. */
void exit_hold_close(struct exit_wait *w);

#endif

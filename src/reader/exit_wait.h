/* exit_wait.h - processes that wait, as they end, until they have been read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_EXIT_WAIT_H
#define SEEP_READER_EXIT_WAIT_H

#include <stdbool.h>

#include "trace/format.h"

/*
 * With SEEP_LEAKS=1 a process that calls exit() waits, as long as a reader
 * beats: its heap is then as the program leaves it. It waits no longer than
 * SEG_BEAT_SECONDS after the last beat.
 *
 * The control block is of one segment file: of its process and of all forked
 * children with a slot there, or with a link to it. It may be the file of
 * another user, who can do with it what he likes: nothing of it is read but
 * its magic, and no memory of it is touched.
 */
struct exit_wait;

/*
 * `segment` is the path of a segment file. -ENODATA: its control block is none;
 * -ENOMEM, or as open() and mmap() say.
 */
int exit_wait_open(const char *segment, struct exit_wait **ret);

/* Says that a reader is there. Twice a second is often enough. */
int exit_wait_beat(struct exit_wait *w);

/* Does this process wait? Of a header that was read just now. */
bool exit_wait_is_on(const struct seg_header *h);

/* The process with this header goes on to its end. */
int exit_wait_end(struct exit_wait *w, const struct seg_header *h);

/* NULL is fine. Who waits still goes on when its time is over. */
void exit_wait_close(struct exit_wait *w);

#endif

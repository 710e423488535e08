/* drain.h - the event logs of a tree go into its recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DRAIN_H
#define SEEP_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"
#include "recording/file/recording.h"

/*
 * Reads the pools of all processes that log: every 10 ms as long as there is
 * something, every 2 ms while one fills many chunks, less often if there is
 * nothing. What was read is written after a second at the latest.
 */
struct drain;

/* The log ends when its entries have about so many bytes. -ENOMEM. */
int drain_new(uint64_t limit_bytes, struct drain **ret);
void drain_free(struct drain *d); /* NULL is fine */

/*
 * A process of the tree, whose segment is that of the file `name`, or slot
 * `slot` of it. Nothing happens if it has no log, or is known. -ENOMEM.
 */
int drain_add(struct drain *d, const char *dir, const char *name, const struct seg_header *h);

/* Until the next look is due. */
int drain_wait_ms(const struct drain *d);

/* A look, if one is due. -ENOMEM, or an error of the recording. */
int drain_look(struct drain *d, struct recording_writer *w);

/* Everything that was read so far is written; at the end of a chapter. */
int drain_flush(struct drain *d, struct recording_writer *w);

/*
 * Before the segment of a process is written: reads all that it has left. If it
 * `is_over`, nothing more is asked of it.
 */
int drain_last(struct drain *d, const char *dir, const char *name, const struct seg_header *h,
    bool is_over, struct recording_writer *w);

/* Events in the recording, its bytes of log, and whether the limit was reached. */
struct drain_sums {
	uint64_t events, lost, bytes;
	bool is_full;
	uint64_t without;       /* processes that lack one */
	struct seg_header lack; /* of the first of these */
};
struct drain_sums drain_sums(const struct drain *d);

#endif

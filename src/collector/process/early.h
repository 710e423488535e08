/* early.h - the first events of a forked child, before it has a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EARLY_H
#define SEEP_EARLY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

/*
 * Many forked children do little or call exec at once, so a child's segment is
 * plain memory at first. After each event the sums are written
 * where they survive the child, into a line of its ancestor's file or onto the
 * early_page in a file of its own (child_file.h). After 64 events or 64 KiB the child
 * moves to a slot or into its own file.
 */

/* How large the segment is that a child moves to. */
uint64_t early_layout(void);

/* Maps plain memory and makes it the segment. False: there is none. */
bool early_map_memory(void);

/* After early_map_memory(). With SEEP_PRIVATE the child stays where it is. */
void early_begin(void);

/* Claims a line in the ancestor's file; its absence is counted. */
void early_claim_line(const struct seg_header *h);

/* Writes the early_page in the child's own file. */
void early_write_page(struct seg_header *h);

/* By an event: writes the sums down. */
void early_note_sums(void);

/* By an event, now and then: writes the sums down, and moves if it is time. */
void early_poll(void);

/* Before a second thread gets its block, because a child moves first. */
void early_new_thread(void);

/* At exit: moves if blocks or mappings are left, whose stacks the sums do not show. */
void early_end(void);

/* The child cannot be recorded any more. */
void early_close(void);

#endif

/* nursery.h - the first events of a forked child, before it has a segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NURSERY_H
#define SEEP_NURSERY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

/*
 * Many forked children do little or call exec at once, so a child's segment is
 * plain memory at first. After each event the sums are written
 * where they survive the child, into a line of its ancestor's file or onto the
 * card in a file of its own (cradle.h). After 64 events or 64 KiB the child
 * moves to a slot or into its own file.
 */

/* How large the segment is that a child moves to. */
uint64_t nursery_layout(void);

/* Maps plain memory and makes it the segment. False: there is none. */
bool nursery_map(void);

/* After nursery_map(). With SEEP_PRIVATE the child stays where it is. */
void nursery_begin(void);

/* Claims a line in the ancestor's file; its absence is counted. */
void nursery_claim_line(const struct seg_header *h);

/* Writes the card in the child's own file. */
void nursery_write_card(struct seg_header *h);

/* By an event: writes the sums down. */
void nursery_note_sums(void);

/* By an event, now and then: writes the sums down, and moves if it is time. */
void nursery_poll(void);

/* Before a second thread gets its block, because a child moves first. */
void nursery_new_thread(void);

/* At exit: moves if blocks or mappings are left, whose stacks the sums do not show. */
void nursery_end(void);

/* The child cannot be recorded any more. */
void nursery_close(void);

#endif

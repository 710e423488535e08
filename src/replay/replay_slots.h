/* replay_replay_slots.h - which slots of a script are free, and whose turn it is in each. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPLAY_SLOTS_H
#define SEEP_REPLAY_SLOTS_H

#include <stddef.h>
#include <stdint.h>

enum { SLOTS_KEPT = 256 };

/* Slots that a carrier has freed, for its next allocations. */
struct slots_kept {
	uint32_t at[SLOTS_KEPT];
	uint32_t count;
};

struct slots {
	uint16_t *turns; /* by slot */
	size_t count, room;
	uint32_t *queue; /* freed by any carrier, the oldest first: a ring */
	size_t first, waiting, queue_room;
};

/*
 * A slot for a block: one that the carrier itself has freed, one that another
 * has freed long ago, or a new one. So hardly any allocation waits for a free
 * that it did not wait for in the program. -ENOMEM, also if there are too many.
 */
int replay_slots_take(struct slots *s, struct slots_kept *own, uint32_t *ret);

/* -ENOMEM */
int replay_slots_give(struct slots *s, struct slots_kept *own, uint32_t slot);

/* The count at which it is the next word's turn; the next call: one more. */
uint16_t replay_slots_turn(struct slots *s, uint32_t slot);

void replay_slots_release(struct slots *s);

#endif

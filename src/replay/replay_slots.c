/* replay_replay_slots.c - which slots of a script are free, and whose turn it is in each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compose.h"

#include "replay/script.h"
#include "kit/data/room.h"

/* So many slots were freed after one before it is used again. */
enum { QUEUE_MIN = 8192 };

int replay_slots_take(struct slots *s, struct slots_kept *own, uint32_t *ret)
{
	if (own->count > 0) {
		*ret = own->at[--own->count];
		return 0;
	}
	if (s->waiting > QUEUE_MIN) {
		*ret = s->queue[s->first];
		s->first = (s->first + 1) % s->queue_room;
		s->waiting--;
		return 0;
	}
	if (s->count >= 1u << SCRIPT_SLOT_BITS ||
	    room_make(&s->turns, &s->room, s->count, sizeof(*s->turns)) < 0)
		return -ENOMEM;
	s->turns[s->count] = 0;
	*ret = (uint32_t)s->count++;
	return 0;
}

/* Makes the ring larger: what was before its first item moves behind the last. */
static int grow(struct slots *s)
{
	size_t room = s->queue_room;

	if (s->waiting < room)
		return 0;
	if (room_make(&s->queue, &s->queue_room, room, sizeof(*s->queue)) < 0)
		return -ENOMEM;
	memcpy(s->queue + room, s->queue, s->first * sizeof(*s->queue));
	return 0;
}

int replay_slots_give(struct slots *s, struct slots_kept *own, uint32_t slot)
{
	if (own->count < SLOTS_KEPT) {
		own->at[own->count++] = slot;
		return 0;
	}
	if (grow(s) < 0)
		return -ENOMEM;
	s->queue[(s->first + s->waiting++) % s->queue_room] = slot;
	return 0;
}

uint16_t replay_slots_turn(struct slots *s, uint32_t slot)
{
	return s->turns[slot]++;
}

void replay_slots_release(struct slots *s)
{
	free(s->turns);
	free(s->queue);
	*s = (struct slots){0};
}

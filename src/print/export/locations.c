/* locations.c - code addresses of stacks, with what is inlined there. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/locations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kit/data/room.h"

static bool same_location(const void *items, uint32_t item, const void *key)
{
	const struct location *a = (const struct location *)items + item;
	const struct location *b = key;

	return a->count == b->count &&
	    (a->count == 0 || memcmp(a->frames, b->frames, a->count * sizeof(*a->frames)) == 0);
}

int locations_next(struct locations *l, const struct view *v, const struct view_site *s,
    uint32_t *at, uint32_t *ret)
{
	struct location fresh = {.frames = s->frames + *at};
	uint64_t h = 0;
	int err;

	while (*at < s->frame_count) {
		uint32_t number = s->frames[(*at)++];

		h = dict_hash(h, number, fresh.count++);
		if (!v->frames[number].inlined)
			break;
	}
	err = room_make(&l->list, &l->room, l->count, sizeof(*l->list));
	if (err == 0)
		err = dict_find(
		    &l->index, h, same_location, l->list, &fresh, (uint32_t)l->count, ret);
	if (err == 0 && *ret == l->count)
		l->list[l->count++] = fresh;
	return err;
}

void locations_release(struct locations *l)
{
	free(l->list);
	dict_release(&l->index);
	*l = (struct locations){0};
}

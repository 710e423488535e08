/* load_inventory.c - matches inventories in a recording to its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/load_inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/parts/inventory.h"
#include "kit/data/room.h"

enum { UUID = 16 };

struct load_inventory_item {
	uint8_t uuid[UUID];
	struct inventory *inventory; /* NULL: handed over, or damaged */
	size_t bytes;                /* of the entry */
};

static bool is_of(const void *items, uint32_t item, const void *uuid)
{
	const struct load_inventory_item *x = items;

	return memcmp(x[item].uuid, uuid, UUID) == 0;
}

static int item_of(struct load_inventory *l, const uint8_t *uuid, struct load_inventory_item **ret)
{
	uint32_t at;
	int err = room_make(&l->items, &l->room, l->count, sizeof(*l->items));

	if (err == 0)
		err = dict_find(&l->index, dict_hash_bytes(uuid, UUID), is_of, l->items, uuid,
		    (uint32_t)l->count, &at);
	if (err < 0)
		return err;
	*ret = &l->items[at];
	if (at == l->count) {
		**ret = (struct load_inventory_item){.bytes = 0};
		memcpy((*ret)->uuid, uuid, UUID);
		l->count++;
	}
	return 0;
}

int load_inventory_entry(struct load_inventory *l, const void *bytes, size_t len, uint64_t limit)
{
	const uint8_t *body = bytes;
	struct load_inventory_item *x;
	struct inventory v;
	int err;

	if (len < UUID)
		return 0;
	err = inventory_decode(body + UUID, len - UUID, &v);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	err = item_of(l, body, &x);
	if (err == 0 && l->bytes - x->bytes + len > limit) {
		inventory_release(&v);
		return 0;
	}
	if (err == 0 && !x->inventory) {
		x->inventory = calloc(1, sizeof(*x->inventory));
		err = x->inventory ? 0 : -ENOMEM;
	}
	if (err < 0) {
		inventory_release(&v);
		return err;
	}
	inventory_release(x->inventory);
	*x->inventory = v;
	l->bytes += len - x->bytes;
	x->bytes = len;
	return 0;
}

void load_inventory_give(struct load_inventory *l, const struct session *s, size_t first)
{
	for (size_t i = first; i < s->count; i++) {
		struct process *p = s->processes[i];
		uint32_t at;

		if (p->inventory ||
		    !dict_look(&l->index, dict_hash_bytes(p->header.uuid, UUID), is_of, l->items,
		        p->header.uuid, &at))
			continue;
		p->inventory = l->items[at].inventory;
		l->items[at].inventory = NULL;
	}
}

void load_inventory_release(struct load_inventory *l)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->items[i].inventory)
			inventory_release(l->items[i].inventory);
		free(l->items[i].inventory);
	}
	free(l->items);
	dict_release(&l->index);
	*l = (struct load_inventory){0};
}

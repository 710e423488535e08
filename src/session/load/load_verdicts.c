/* load_verdicts.c - matches the verdicts in a recording to its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/load_verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/parts/verdicts.h"
#include "kit/data/room.h"

enum { UUID_BYTES = 16 };

struct load_verdicts_item {
	uint8_t uuid[UUID_BYTES];
	struct verdicts *verdicts; /* NULL: handed over */
	size_t bytes;              /* of the entry */
};

static bool same_uuid(const void *items, uint32_t item, const void *key)
{
	const struct load_verdicts_item *all = items;

	return memcmp(all[item].uuid, key, UUID_BYTES) == 0;
}

static void drop(struct load_verdicts_item *x)
{
	if (x->verdicts)
		verdicts_release(x->verdicts);
	free(x->verdicts);
	x->verdicts = NULL;
}

/* The item of this process, which is made if there was none. */
static int item_of(struct load_verdicts *l, const void *uuid, struct load_verdicts_item **ret)
{
	uint32_t at;
	int err;

	err = room_make(&l->items, &l->room, l->count, sizeof(*l->items));
	if (err == 0)
		err = dict_find(&l->index, dict_hash_bytes(uuid, UUID_BYTES), same_uuid, l->items,
		    uuid, (uint32_t)l->count, &at);
	if (err < 0)
		return err;
	if (at == l->count) {
		l->items[at] = (struct load_verdicts_item){.bytes = 0};
		memcpy(l->items[at].uuid, uuid, UUID_BYTES);
		l->count++;
	}
	*ret = &l->items[at];
	return 0;
}

int load_verdicts_entry(struct load_verdicts *l, const void *bytes, size_t len, uint64_t limit)
{
	const uint8_t *body = bytes;
	struct load_verdicts_item *x;
	struct verdicts v;
	int err;

	if (len < UUID_BYTES) {
		l->left_out++;
		return 0;
	}
	err = verdicts_decode(body + UUID_BYTES, len - UUID_BYTES, &v);
	if (err == -EBADMSG) {
		l->left_out++;
		return 0;
	}
	if (err < 0)
		return err;
	err = item_of(l, body, &x);
	if (err < 0)
		goto out;
	if (l->bytes - x->bytes + len > limit) {
		l->left_out++;
		goto out;
	}
	if (!x->verdicts)
		x->verdicts = calloc(1, sizeof(*x->verdicts));
	else
		verdicts_release(x->verdicts);
	err = x->verdicts ? 0 : -ENOMEM;
	if (err < 0)
		goto out;
	*x->verdicts = v;
	l->bytes += len - x->bytes;
	x->bytes = len;
	return 0;
out:
	verdicts_release(&v);
	return err;
}

void load_verdicts_give(struct load_verdicts *l, const struct session *s, size_t first)
{
	for (size_t i = first; i < s->count; i++) {
		struct process *p = s->processes[i];
		uint64_t hash = dict_hash_bytes(p->header.uuid, UUID_BYTES);
		uint32_t at;

		if (p->verdicts ||
		    !dict_look(&l->index, hash, same_uuid, l->items, p->header.uuid, &at))
			continue;
		p->verdicts = l->items[at].verdicts;
		l->items[at].verdicts = NULL;
	}
}

void load_verdicts_release(struct load_verdicts *l)
{
	for (size_t i = 0; i < l->count; i++)
		drop(&l->items[i]);
	free(l->items);
	dict_release(&l->index);
	*l = (struct load_verdicts){0};
}

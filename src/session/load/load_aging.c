/* load_aging.c - matches ages and births in a recording to its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/load_aging.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "recording/parts/aging.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"

enum { UUID = 16 };

struct load_aging_item {
	uint8_t uuid[UUID];
	struct aging *births; /* NULL: handed over */
	size_t bytes;         /* of the entry */
};

static bool is_of(const void *items, uint32_t item, const void *uuid)
{
	const struct load_aging_item *x = items;

	return memcmp(x[item].uuid, uuid, UUID) == 0;
}

static void drop(struct aging *b)
{
	if (b)
		aging_release(b);
	free(b);
}

/* Takes b over, on success only. */
static int keep(
    struct load_aging *l, const uint8_t *uuid, struct aging *b, size_t bytes, uint64_t limit)
{
	struct load_aging_item *x;
	uint32_t at;
	int err;

	err = room_make(&l->items, &l->room, l->count, sizeof(*l->items));
	if (err == 0)
		err = dict_find(&l->index, dict_hash_bytes(uuid, UUID), is_of, l->items, uuid,
		    (uint32_t)l->count, &at);
	if (err < 0)
		return err;
	x = &l->items[at];
	if (at == l->count) {
		*x = (struct load_aging_item){.bytes = 0};
		memcpy(x->uuid, uuid, UUID);
		l->count++;
	}
	if (l->bytes - x->bytes + bytes > limit)
		return -EFBIG;
	drop(x->births);
	l->bytes += bytes - x->bytes;
	x->births = b;
	x->bytes = bytes;
	return 0;
}

int load_aging_entry(struct load_aging *l, const void *bytes, size_t len, uint64_t limit)
{
	const uint8_t *body = bytes;
	struct aging *b;
	int err;

	if (len < UUID)
		return 0;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	err = aging_decode(body + UUID, len - UUID, b);
	if (err == 0)
		err = keep(l, body, b, len, limit);
	if (err < 0)
		drop(b);
	return err == -ENOMEM ? err : 0;
}

/* ---- several ids may be one site ---- */

static int by_id(const void *a, const void *b)
{
	const struct aging_site *x = a, *y = b;

	return (x->site > y->site) - (x->site < y->site);
}

static void add_list(uint64_t *to, const uint64_t *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = capped_sum(to[i], from[i]);
}

static void add_site(struct aging_site *to, const struct aging_site *from)
{
	if (from->first_tick < to->first_tick)
		to->first_tick = from->first_tick;
	to->blocks = capped_sum(to->blocks, from->blocks);
	to->bytes = capped_sum(to->bytes, from->bytes);
	to->moved = capped_sum(to->moved, from->moved);
	add_list(to->deaths, from->deaths, AGING_DEATHS);
	add_list(to->living, from->living, AGING_LIVING);
	add_list(to->births, from->births, SEG_BIRTH_SLOTS);
}

/* Rows get the id that the site has in p; rows of one site become one. */
static void join_ids(struct aging *b, const struct process *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct process_id *id = process_find_id(p, b->sites[i].site);

		if (!id || id->site >= p->site_count)
			continue;
		b->sites[kept] = b->sites[i];
		b->sites[kept++].site = p->sites[id->site].id;
	}
	b->count = 0;
	if (kept > 0)
		qsort(b->sites, kept, sizeof(*b->sites), by_id);
	for (size_t i = 0; i < kept; i++) {
		struct aging_site *last = b->count ? &b->sites[b->count - 1] : NULL;

		if (last && last->site == b->sites[i].site)
			add_site(last, &b->sites[i]);
		else
			b->sites[b->count++] = b->sites[i];
	}
}

void load_aging_give(struct load_aging *l, const struct session *s, size_t first)
{
	for (size_t i = first; i < s->count; i++) {
		struct process *p = s->processes[i];
		uint32_t at;

		if (p->aging ||
		    !dict_look(&l->index, dict_hash_bytes(p->header.uuid, UUID), is_of, l->items,
		        p->header.uuid, &at))
			continue;
		p->aging = l->items[at].births;
		l->items[at].births = NULL;
		if (p->aging)
			join_ids(p->aging, p);
	}
}

void load_aging_release(struct load_aging *l)
{
	for (size_t i = 0; i < l->count; i++)
		drop(l->items[i].births);
	free(l->items);
	dict_release(&l->index);
	*l = (struct load_aging){0};
}

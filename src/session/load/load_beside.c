/* load_beside.c - what a recording says of its processes beside their segments. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/load/load_beside.h"

#include "base/std.h"
#include "recording/file/recording.h"
#include "recording/parts/aging.h"
#include "recording/parts/inventory.h"
#include "recording/parts/rss_account.h"
#include "recording/parts/verdicts.h"
#include "kit/data/capped.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

struct load_beside_item {
	uint8_t uuid[16];
	uint32_t kind;
	uint64_t time_ns; /* of a reading; else 0 */
	size_t bytes;     /* of the entry */
	void *part;       /* NULL: handed over, or none was sound */
};

/* ---- ages: several ids may be one site ---- */

BY(by_id, struct aging_site, UP(site))

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

/* ---- the kinds: each takes *part over and sets it to NULL, or leaves it ---- */

static int give_verdicts(struct process *p, void **part)
{
	if (!p->verdicts) {
		p->verdicts = *part;
		*part = NULL;
	}
	return 0;
}

static int give_aging(struct process *p, void **part)
{
	if (!p->aging) {
		p->aging = *part;
		join_ids(p->aging, p);
		*part = NULL;
	}
	return 0;
}

static int give_inventory(struct process *p, void **part)
{
	if (!p->inventory) {
		p->inventory = *part;
		*part = NULL;
	}
	return 0;
}

static int give_rss(struct process *p, void **part)
{
	int err = process_add_rss(p, *part);

	if (err == 0) {
		free(*part); /* it is empty now */
		*part = NULL;
	}
	return err;
}

#define KIND(name, struct_name, how) \
	.decode = (int (*)(const uint8_t *, size_t, void *))name##_decode, \
	.release = (void (*)(void *))name##_release, .bytes = sizeof(struct struct_name), \
	.give = how

static const struct kind {
	uint32_t type;
	size_t bytes; /* of the struct */
	int (*decode)(const uint8_t *bytes, size_t len, void *ret);
	void (*release)(void *part);
	int (*give)(struct process *p, void **part);
} kinds[BESIDE_KINDS] = {
    [BESIDE_VERDICTS] = {RECORDING_VERDICTS, KIND(verdicts, verdicts, give_verdicts)},
    [BESIDE_AGING] = {RECORDING_AGING, KIND(aging, aging, give_aging)},
    [BESIDE_INVENTORY] = {RECORDING_INVENTORY, KIND(inventory, inventory, give_inventory)},
    [BESIDE_RSS] = {RECORDING_RESIDENCE, KIND(rss_account, rss_account, give_rss)},
};

/* ---- all of them ---- */

static void drop(struct load_beside_item *x)
{
	if (x->part)
		kinds[x->kind].release(x->part);
	free(x->part);
	x->part = NULL;
}

static bool is_same(const void *items, uint32_t item, const void *key)
{
	const struct load_beside_item *x = (const struct load_beside_item *)items + item, *y = key;

	return x->kind == y->kind && memcmp(x->uuid, y->uuid, sizeof(x->uuid)) == 0;
}

/* Takes x over, on success only; it replaces an earlier one. */
static int keep(struct load_beside *l, const struct load_beside_item *x, uint64_t limit)
{
	uint64_t hash = dict_hash(dict_hash_bytes(x->uuid, sizeof(x->uuid)), x->kind, 0);
	struct load_beside_item *was;
	uint32_t at = (uint32_t)l->count;
	int err = room_make(&l->items, &l->room, l->count, sizeof(*l->items));

	if (err == 0 && x->kind != BESIDE_RSS)
		err = dict_find(&l->index, hash, is_same, l->items, x, at, &at);
	if (err < 0)
		return err;
	was = &l->items[at];
	if (at == l->count) {
		*was = *x;
		was->bytes = 0;
		was->part = NULL;
		l->count++;
	}
	if (l->bytes[x->kind] - was->bytes + x->bytes > limit)
		return -EFBIG;
	l->bytes[x->kind] += x->bytes - was->bytes;
	drop(was);
	*was = *x;
	return 0;
}

int load_beside_entry(
    struct load_beside *l, uint32_t type, const void *bytes, size_t len, uint64_t limit)
{
	const uint8_t *body = bytes;
	const struct kind *k = kinds;
	struct load_beside_item x = {.bytes = len};
	int err = -EBADMSG;

	while (k < kinds + BESIDE_KINDS && k->type != type)
		k++;
	if (k == kinds + BESIDE_KINDS)
		return 0;
	x.kind = (uint32_t)(k - kinds);
	if (len >= sizeof(x.uuid)) {
		memcpy(x.uuid, body, sizeof(x.uuid));
		x.part = calloc(1, k->bytes);
		err = x.part ? k->decode(body + sizeof(x.uuid), len - sizeof(x.uuid), x.part)
		             : -ENOMEM;
	}
	if (err == 0 && x.kind == BESIDE_RSS)
		x.time_ns = ((const struct rss_account *)x.part)->time_ns;
	if (err == 0)
		err = keep(l, &x, limit);
	if (err == 0)
		return 0;
	drop(&x);
	l->left_out[x.kind]++;
	return err == -ENOMEM ? err : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct load_beside_item *x = a, *y = b;
	int n = memcmp(x->uuid, y->uuid, sizeof(x->uuid));

	return n ? n : (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* The first item of a process, or where it would be. */
static size_t find(const struct load_beside *l, const uint8_t *uuid)
{
	return sorted_first(l->items, l->count, x, memcmp(x->uuid, uuid, 16) < 0);
}

int load_beside_give(struct load_beside *l, const struct session *s, size_t first)
{
	int err = 0;

	if (l->count > 0)
		qsort(l->items, l->count, sizeof(*l->items), by_time);
	dict_release(&l->index); /* its numbers are not valid any more */
	for (size_t i = first; i < s->count && err == 0; i++) {
		struct process *p = s->processes[i];
		size_t at = find(l, p->header.uuid);

		for (; at < l->count && err == 0 &&
		     memcmp(l->items[at].uuid, p->header.uuid, 16) == 0;
		     at++)
			if (l->items[at].part)
				err = kinds[l->items[at].kind].give(p, &l->items[at].part);
	}
	return err;
}

void load_beside_release(struct load_beside *l)
{
	for (size_t i = 0; i < l->count; i++)
		drop(&l->items[i]);
	free(l->items);
	dict_release(&l->index);
	*l = (struct load_beside){0};
}

/* dict.c - finds an item of a growing array by its content. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/data/dict.h"

#include <sys/random.h>

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

static uint64_t seed(void)
{
	static uint64_t value;

	if (value == 0) {
		if (getrandom(&value, sizeof(value), GRND_NONBLOCK) < 0)
			value = (uintptr_t)&value;
		value |= 1;
	}
	return value;
}

uint64_t dict_hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t s = seed();

	return mix(mix(mix(a ^ s) + b + s) ^ (c + s * 3));
}

uint64_t dict_hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t h = len, word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = dict_hash(h, word, 1);
	}
	word = 0;
	if (len > 0)
		memcpy(&word, p, len);
	return dict_hash(h, word, 2);
}

uint64_t dict_hash_text(const char *text)
{
	return dict_hash_bytes(text, text ? strlen(text) : 0);
}

static int grow(struct dict *x)
{
	size_t room = x->slots ? (x->mask + 1) * 2 : 64;
	struct index_slot *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; x->slots && i <= x->mask; i++) {
		size_t at = x->slots[i].hash & (room - 1);

		if (x->slots[i].item == 0)
			continue;
		while (slots[at].item != 0)
			at = (at + 1) & (room - 1);
		slots[at] = x->slots[i];
	}
	free(x->slots);
	x->slots = slots;
	x->mask = room - 1;
	return 0;
}

/*
 * The slot of the item equal to key, or the free slot where it would be stored.
 */
static size_t find_slot(
    const struct dict *x, uint32_t h, dict_same *same, const void *items, const void *key)
{
	size_t at = h & x->mask;

	while (x->slots[at].item != 0 &&
	    (x->slots[at].hash != h || !same(items, x->slots[at].item - 1, key)))
		at = (at + 1) & x->mask;
	return at;
}

bool dict_same_text(const void *items, uint32_t item, const void *key)
{
	return strcmp(((const char *const *)items)[item], key) == 0;
}

int dict_find(struct dict *x, uint64_t hash, dict_same *same, const void *items, const void *key,
    uint32_t fresh, uint32_t *ret)
{
	uint32_t h = (uint32_t)(hash >> 32);
	size_t at;

	if ((!x->slots || x->used * 2 > x->mask) && grow(x) < 0)
		return -ENOMEM;
	at = find_slot(x, h, same, items, key);
	if (x->slots[at].item != 0) {
		*ret = x->slots[at].item - 1;
		return 0;
	}
	x->slots[at] = (struct index_slot){.item = fresh + 1, .hash = h};
	x->used++;
	*ret = fresh;
	return 0;
}

bool dict_seek(const struct dict *x, uint64_t hash, dict_same *same, const void *items,
    const void *key, uint32_t *ret)
{
	size_t at;

	if (!x->slots)
		return false;
	at = find_slot(x, (uint32_t)(hash >> 32), same, items, key);
	if (x->slots[at].item == 0)
		return false;
	*ret = x->slots[at].item - 1;
	return true;
}

void dict_release(struct dict *x)
{
	free(x->slots);
	*x = (struct dict){0};
}

/* ---- keyed: items that are found by a number, and can be removed again ---- */

enum { FIRST_BITS = 8 };

static size_t mask_of(const struct keyed *k)
{
	return ((size_t)1 << k->bits) - 1;
}

static size_t home_of(const struct keyed *k, uint64_t key)
{
	return (size_t)dict_hash(key, 0, 0) & mask_of(k);
}

static uint8_t *item_at(const struct keyed *k, size_t i)
{
	return k->items + i * k->item_bytes;
}

static uint64_t key_at(const struct keyed *k, size_t i)
{
	uint64_t key;

	memcpy(&key, item_at(k, i), sizeof(key));
	return key;
}

/* Its place, or the free place where it would be. */
static size_t place_of(const struct keyed *k, uint64_t key)
{
	size_t i = home_of(k, key);

	while (key_at(k, i) != 0 && key_at(k, i) != key)
		i = (i + 1) & mask_of(k);
	return i;
}

static bool keyed_grow(struct keyed *k)
{
	struct keyed old = *k;
	unsigned bits = old.items ? old.bits + 1 : FIRST_BITS;
	uint8_t *items = calloc((size_t)1 << bits, k->item_bytes);

	if (!items)
		return false;
	k->items = items;
	k->bits = bits;
	for (size_t i = 0; old.items && i <= mask_of(&old); i++)
		if (key_at(&old, i) != 0)
			memcpy(item_at(k, place_of(k, key_at(&old, i))), item_at(&old, i),
			    k->item_bytes);
	free(old.items);
	return true;
}

void *keyed_find(const struct keyed *k, uint64_t key)
{
	size_t i;

	if (!k->items || key == 0)
		return NULL;
	i = place_of(k, key);
	return key_at(k, i) == key ? item_at(k, i) : NULL;
}

void *keyed_put(struct keyed *k, uint64_t key)
{
	size_t i;

	if ((!k->items || k->count > mask_of(k) / 4 * 3) && !keyed_grow(k))
		return NULL;
	i = place_of(k, key);
	if (key_at(k, i) == 0) {
		memcpy(item_at(k, i), &key, sizeof(key));
		k->count++;
	}
	return item_at(k, i);
}

/* Items behind the hole that it was in the way of move up. */
void keyed_remove(struct keyed *k, const void *item)
{
	size_t mask = mask_of(k);
	size_t hole = (size_t)((const uint8_t *)item - k->items) / k->item_bytes;

	for (size_t i = (hole + 1) & mask; key_at(k, i) != 0; i = (i + 1) & mask) {
		size_t home = home_of(k, key_at(k, i));

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		memcpy(item_at(k, hole), item_at(k, i), k->item_bytes);
		hole = i;
	}
	memset(item_at(k, hole), 0, k->item_bytes);
	k->count--;
}

void keyed_release(struct keyed *k)
{
	free(k->items);
	*k = (struct keyed){.item_bytes = k->item_bytes};
}

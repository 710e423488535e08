/* keyed.c - items that are found by a number, and can be removed again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/data/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "kit/data/dict.h"

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

static bool grow(struct keyed *k)
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

	if ((!k->items || k->count > mask_of(k) / 4 * 3) && !grow(k))
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

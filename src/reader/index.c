/* index.c - finds an item of a growing array by its content. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/index.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ (x >> 33);
}

static uint64_t
seed(void)
{
	static uint64_t value;

	if (value == 0) {
		if (getrandom(&value, sizeof(value), GRND_NONBLOCK) < 0)
			value = (uintptr_t)&value;
		value |= 1;
	}
	return value;
}

uint64_t
index_hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t s = seed();

	return mix(mix(mix(a ^ s) + b + s) ^ (c + s * 3));
}

static int
grow(struct index *x)
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

int
index_find(struct index *x, uint64_t hash, index_same *same, const void *items,
    const void *key, uint32_t fresh, uint32_t *ret)
{
	uint32_t h = (uint32_t)(hash >> 32);
	size_t at;

	if ((!x->slots || x->used * 2 > x->mask) && grow(x) < 0)
		return -ENOMEM;
	for (at = h & x->mask; x->slots[at].item != 0;
	     at = (at + 1) & x->mask) {
		if (x->slots[at].hash != h)
			continue;
		if (same(items, x->slots[at].item - 1, key)) {
			*ret = x->slots[at].item - 1;
			return 0;
		}
	}
	x->slots[at] = (struct index_slot){.item = fresh + 1, .hash = h};
	x->used++;
	*ret = fresh;
	return 0;
}

void
index_release(struct index *x)
{
	free(x->slots);
	*x = (struct index){0};
}

/* keyed.h - items that are found by a number, and can be removed again. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_KEYED_H
#define SEEP_KEYED_H

#include <stddef.h>
#include <stdint.h>

/*
 * Open addressing. An item begins with its key, a uint64_t that is not 0. Items
 * move when others are put or removed. Zeros but for item_bytes: none yet.
 */
struct keyed {
	uint8_t *items;
	size_t item_bytes, count;
	unsigned bits;
};

/* NULL: there is none. */
void *keyed_find(const struct keyed *k, uint64_t key);

/* The item with this key, or a new one with zeros behind it. NULL: -ENOMEM. */
void *keyed_put(struct keyed *k, uint64_t key);

/* `item` is from keyed_find(). */
void keyed_remove(struct keyed *k, const void *item);

void keyed_release(struct keyed *k);

#endif

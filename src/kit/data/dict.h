/* dict.h - finds an item of a growing array by its content, or by a number. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DICT_H
#define SEEP_DICT_H

#include "base/std.h"

/* Open addressing over the numbers of items. The caller keeps the items. */
struct dict {
	struct index_slot *slots;
	size_t mask, used;
};
struct index_slot {
	uint32_t item; /* number of the item + 1; 0: this slot is free */
	uint32_t hash;
};

/* Is item number `item` the one that `key` describes? */
typedef bool dict_same(const void *items, uint32_t item, const void *key);

/* The function for an array of texts, `char *items[]`; key is a text. */
bool dict_same_text(const void *items, uint32_t item, const void *key);

/*
 * Mixes words with a seed that differs in each run. So nobody can make input
 * that collides and slows us down. No result depends on the order of the table.
 */
uint64_t dict_hash(uint64_t a, uint64_t b, uint64_t c);
uint64_t dict_hash_bytes(const void *bytes, size_t len);
uint64_t dict_hash_text(const char *text); /* NULL is treated as "" */

/*
 * The number of the item equal to key. If there is none, `fresh` is entered and
 * returned, and the caller appends that item. -ENOMEM.
 */
int dict_find(struct dict *x, uint64_t hash, dict_same *same, const void *items, const void *key,
    uint32_t fresh, uint32_t *ret);

/* The same, but enters nothing. Returns false if there is no such item. */
bool dict_seek(const struct dict *x, uint64_t hash, dict_same *same, const void *items,
    const void *key, uint32_t *ret);

void dict_release(struct dict *x);

/* ---- keyed: items that are found by a number, and can be removed again ---- */

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

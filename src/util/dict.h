/* dict.h - finds an item of a growing array by its content. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_UTIL_DICT_H
#define SEEP_UTIL_DICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Open addressing over item numbers; the items stay with the caller. */
struct dict {
	struct index_slot *slots;
	size_t mask, used;
};
struct index_slot {
	uint32_t item; /* number + 1, 0: free */
	uint32_t hash;
};

/* Is item number `item` the one that `key` describes? */
typedef bool dict_same(const void *items, uint32_t item, const void *key);

/* The one for an array of texts, `char *items[]`; key is a text. */
bool dict_same_text(const void *items, uint32_t item, const void *key);

/*
 * Mixes words with a seed of this run: input cannot be made to collide, and so
 * cannot make us slow. Results depend on no order of the table.
 */
uint64_t dict_hash(uint64_t a, uint64_t b, uint64_t c);
uint64_t dict_hash_bytes(const void *bytes, size_t len);
uint64_t dict_hash_text(const char *text); /* NULL is as "" */

/*
 * Number of the item equal to key, or `fresh`, which is entered now and which
 * the caller then appends. -ENOMEM.
 */
int dict_find(struct dict *x, uint64_t hash, dict_same *same, const void *items,
    const void *key, uint32_t fresh, uint32_t *ret);

/* The same, but enters nothing. False: there is no such item. */
bool dict_look(const struct dict *x, uint64_t hash, dict_same *same,
    const void *items, const void *key, uint32_t *ret);

void dict_release(struct dict *x);

#endif

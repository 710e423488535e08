/* cache.h - names found earlier, one file for each build-id. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_CACHE_H
#define SEEP_NAMES_CACHE_H

#include "names/table.h"

/*
 * In $XDG_CACHE_HOME/seep or ~/.cache/seep, 0700 and ours, else there is no
 * cache. What DWARF said of a build-id never changes; only that is kept.
 * Bounded: the files that were not used for longest go.
 */
struct cache;

/* -ENOENT: there is no place for one. */
int cache_open(struct cache **ret);

/* NULL is fine. */
void cache_close(struct cache *c);

/*
 * Puts what is known of the key's build-id into the table. The file is not
 * trusted: one that is damaged is deleted. False: nothing is known.
 */
bool cache_load(struct cache *c, const struct table_key *key, struct table *t);

/* Writes what the table knows of one object; a failure is no harm. */
void cache_store(struct cache *c, struct table *t, uint32_t object);

#endif

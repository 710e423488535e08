/* cache.h - names found earlier, one file for each module. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_CACHE_H
#define SEEP_NAMES_CACHE_H

#include "names/opener.h"
#include "names/table.h"

/*
 * In $XDG_CACHE_HOME/seep or ~/.cache/seep, 0700 and ours, else there is no
 * cache. What DWARF said of a file never changes; only that is kept.
 * Bounded: the files that were not used for longest go.
 */
struct cache;

/* -ENOENT: there is no place for one. */
int cache_open(struct cache **ret);

/* NULL is fine. */
void cache_close(struct cache *c);

/*
 * A build-id says who a file claims to be: anybody can write one into a file
 * of his own. So names belong to the very file that they were read from.
 */
struct cache_origin {
	bool is_there;           /* false: the module's file is gone */
	struct opener_file file; /* if it is there */
	uint64_t view;           /* whose debug directories were used */
};

/*
 * Puts what is known of the file with the key's build-id into the table. If
 * the file is gone: what a file of root's or ours with that build-id has said.
 * The cache's file is not trusted: one that is damaged is deleted. False:
 * nothing is known.
 */
bool cache_load(struct cache *c, const struct table_key *key,
    const struct cache_origin *origin, struct table *t);

/* Writes what the table knows of one object; a failure is no harm. */
void cache_store(struct cache *c, struct table *t, uint32_t object,
    const struct cache_origin *origin);

#endif

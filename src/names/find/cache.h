/* cache.h - names found earlier, one file for each module. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CACHE_H
#define SEEP_CACHE_H

#include "names/jail/opener.h"
#include "names/find/name_table.h"

/*
 * The cache is in $XDG_CACHE_HOME/seep or ~/.cache/seep. The directory must
 * have mode 0700 and belong to us, otherwise there is no cache. Only names from
 * DWARF are kept, because for a given file they never change. The size is
 * bounded: the least recently used files are deleted.
 */
struct cache;

/* -ENOENT: there is no directory for one. */
int cache_open(struct cache **ret);

/* NULL is fine. */
void cache_close(struct cache *c);

/*
 * A build-id says who a file claims to be: anybody can write one into his own
 * file. So names belong to the very file that they were read from.
 */
struct cache_origin {
	bool is_there;           /* false: the module's file is gone */
	struct opener_file file; /* if it is there */
	uint64_t view;           /* whose debug directories were used */
};

/*
 * Puts the names of the file with the key's build-id into the table. If the
 * file is gone, these are names from a file of root's or ours that had that
 * build-id. The cache's files are not trusted; a damaged one is deleted. False:
 * nothing is known.
 */
bool cache_load(struct cache *c, const struct name_table_key *key,
    const struct cache_origin *origin, struct table *t);

/* Writes the names of one object in the table; a failure does no harm. */
void cache_store(
    struct cache *c, struct table *t, uint32_t object, const struct cache_origin *origin);

#endif

/* seek.h - looks up many places: in the cache, the jail, servers, maps. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SEEK_H
#define SEEP_SEEK_H

#include "names/dwarf/perfmap.h"
#include "names/find/name_table.h"

/* All places of one object are looked up together, once. */
struct seek;

/* Borrows both. -ENOMEM. */
int seek_new(const struct names_options *options, struct table *t, struct seek **ret);

/* NULL is fine. */
void seek_free(struct seek *s);

/*
 * Notes a place for seek_run(), if the table does not have it, and the process
 * that had the object, because its files are looked for in that process's view
 * of the file system. -ENOMEM.
 */
int seek_add(struct seek *s, uint32_t object, uint64_t address, const struct perfmap_process *who);

/*
 * The object has a path whose directory is in doubt (session/process/relative.h).
 * `mapped` is its path in the memory map while its program ran; NULL: not
 * known. -ENOMEM.
 */
int seek_relative(struct seek *s, uint32_t object, const char *mapped);
bool seek_is_relative(const struct seek *s, uint32_t object);

/*
 * Looks up all noted places as far as possible. Afterwards the table has each
 * of them; unknown ones have a chain without names.
 */
void seek_run(struct seek *s);

/* For an object: how many places were looked up, and how many have no name. */
void seek_counts(const struct seek *s, uint32_t object, size_t *ret_asked, size_t *ret_unknown);

/* Number of processes that even SIGKILL did not end. */
size_t seek_left(const struct seek *s);

/* The error of debuginfod_fetch() if servers could not be asked, else 0. */
int seek_server_error(const struct seek *s);

#endif

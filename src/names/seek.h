/* seek.h - finds out what is at many places: cache, jail, servers, maps. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_SEEK_H
#define SEEP_NAMES_SEEK_H

#include "names/perfmap.h"
#include "names/table.h"

/* All places of one object are asked for together, once. */
struct seek;

/* Borrows both. -ENOMEM. */
int seek_new(
    const struct names_options *options, struct table *t, struct seek **ret);

/* NULL is fine. */
void seek_free(struct seek *s);

/*
 * Notes a place to be found by seek_run(), if the table does not have it; and
 * who had the object, so that its files are looked for where it sees them.
 * -ENOMEM.
 */
int seek_add(struct seek *s, uint32_t object, uint64_t address,
    const struct perfmap_process *who);

/*
 * The object has a path whose directory is in doubt (reader/relative.h); it lay
 * at `mapped` while its program ran, NULL: not known. -ENOMEM.
 */
int seek_relative(struct seek *s, uint32_t object, const char *mapped);
bool seek_is_relative(const struct seek *s, uint32_t object);

/*
 * Finds them all, as far as it goes. Afterwards the table has each of them,
 * with a chain that knows nothing where nothing is known.
 */
void seek_run(struct seek *s);

/* Of an object: places that were looked for, and those without a name. */
void seek_counts(const struct seek *s, uint32_t object, size_t *ret_asked,
    size_t *ret_unknown);

/* Processes that not even SIGKILL has ended. */
size_t seek_left(const struct seek *s);

/* What debuginfod_fetch() said when it could not be asked, else 0. */
int seek_server_error(const struct seek *s);

#endif

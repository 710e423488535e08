/* listing.h - the names in a directory, sorted, up to LISTING_MAX of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LISTING_H
#define SEEP_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LISTING_MAX = 65536 }; /* names kept */

struct listing_names {
	char **names; /* sorted */
	size_t count;
	uint64_t refused; /* wanted names beyond LISTING_MAX */
};

/*
 * Reads the directory behind a descriptor, which stays the caller's. If
 * `is_wanted` is NULL, all names are taken. `f` is for listing_release() in any
 * case. -ENOMEM, or as openat() says.
 */
int listing_read(int dir, bool (*is_wanted)(const char *name), struct listing_names *ret);
void listing_release(struct listing_names *f);

/* Is it a plain file, and of the owner of the directory? */
bool listing_is_own(int dir, const char *name);

#endif

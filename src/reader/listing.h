/* listing.h - the names in a directory, sorted, and not more than we can hold. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_LISTING_H
#define SEEP_READER_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LISTING_MAX = 65536 }; /* names kept */

struct listing_names {
	char **names; /* sorted */
	size_t count;
	uint64_t refused; /* names beyond LISTING_MAX, that are wanted too */
};

/*
 * Reads the directory of a descriptor, which stays the caller's; `is_wanted`
 * NULL takes all. `f` is for listing_release() in any case. -ENOMEM, or what
 * opening says.
 */
int listing_read(
    int dir, bool (*is_wanted)(const char *name), struct listing_names *ret);
void listing_release(struct listing_names *f);

#endif

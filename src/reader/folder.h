/* folder.h - the names in a directory, sorted, and not more than we can hold. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_READER_FOLDER_H
#define SEEP_READER_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FOLDER_MAX = 65536 }; /* names kept */

struct folder {
	char **names; /* sorted */
	size_t count;
	uint64_t refused; /* names beyond FOLDER_MAX, that are wanted too */
};

/*
 * Reads the directory of a descriptor, which stays the caller's; `is_wanted`
 * NULL takes all. `f` is for folder_release() in any case. -ENOMEM, or what
 * opening says.
 */
int folder_read(
    int dir, bool (*is_wanted)(const char *name), struct folder *ret);
void folder_release(struct folder *f);

#endif

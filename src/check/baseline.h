/* baseline.h - leaks that are known and accepted, kept in a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CHECK_BASELINE_H
#define SEEP_CHECK_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/fault.h"

/*
 * A text file for a repository: a first line with the version, then one line
 * for each fingerprint, in the order of what they say, so that changes are
 * small:
 *	HASH BYTES BLOCKS TEXT
 * Lines that begin with # are comments. TEXT is for people only.
 */
struct baseline_item {
	uint64_t hash;
	uint64_t bytes, blocks; /* sums saturate */
	double variance;        /* of the bytes; not kept in the file */
	char *text;
	bool is_met; /* for the caller */
};

struct baseline {
	struct baseline_item *items;
	size_t count, room;
};

/*
 * b is zero before. -EBADMSG: `where` has FILE:LINE and what is wrong;
 * -ENOTSUP: of another version; -EFBIG; -ENOMEM; or as open() says. In any
 * case b is for baseline_release().
 */
int baseline_load(struct baseline *b, const char *path, struct fault *where);

void baseline_release(struct baseline *b);

/* A copy of it; of those with one fingerprint one remains. -ENOMEM. */
int baseline_add(struct baseline *b, const struct baseline_item *item);

/* After the last baseline_add(), before baseline_find(). */
void baseline_sort(struct baseline *b);

/* NULL: not in it. */
struct baseline_item *baseline_find(const struct baseline *b, uint64_t hash);

/* `notes` are lines for people, without "# "; NULL ends them. */
void baseline_write(
    FILE *out, const struct baseline *b, const char *const *notes);

#endif

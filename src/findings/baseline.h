/* baseline.h - leaks that are known and accepted, kept in a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BASELINE_H
#define SEEP_BASELINE_H

#include "base/std.h"
#include "kit/os/fault.h"

/*
 * A text file to be kept in a repository. Its first line has the version, then
 * one line follows for each fingerprint. Lines are sorted by their text, so
 * that changes are small: HASH BYTES BLOCKS TEXT. Lines that begin with # are
 * comments. TEXT is only for people.
 */
struct baseline_item {
	uint64_t hash;
	uint64_t bytes, blocks; /* sums do not wrap */
	double variance;        /* variance of the bytes; not in the file */
	char *text;
	bool is_met; /* for use by the caller */
};

struct baseline {
	struct baseline_item *items;
	size_t count, room;
};

/*
 * b must be zero before. -EBADMSG: `where` has FILE:LINE and the error;
 * -ENOTSUP: another version; -EFBIG; -ENOMEM; or an error of open(). The caller
 * calls baseline_release() in any case.
 */
int baseline_load(struct baseline *b, const char *path, struct fault *where);

void baseline_release(struct baseline *b);

/*
 * Adds a copy of the entry; entries with the same fingerprint are combined.
 * -ENOMEM.
 */
int baseline_add(struct baseline *b, const struct baseline_item *item);

/* Call this after the last baseline_add() and before baseline_find(). */
void baseline_sort(struct baseline *b);

/* NULL: it is not in the baseline. */
struct baseline_item *baseline_find(const struct baseline *b, uint64_t hash);

/* `notes` are lines for people, without "# ", and end with NULL. */
void baseline_write(FILE *out, const struct baseline *b, const char *const *notes);

#endif

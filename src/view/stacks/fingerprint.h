/* fingerprint.h - identifies a stack across rebuilds of its program. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FINGERPRINT_H
#define SEEP_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

#include "view/sites/view.h"

enum {
	FINGERPRINT_VERSION = 1, /* changes with any rule below */
	FINGERPRINT_FRAMES = 8,
	FINGERPRINT_TEXT_BYTES = 2048,
};

/*
 * Made of up to FINGERPRINT_FRAMES functions, innermost first, that tell where
 * a block comes from: without lines, addresses, parameters, the numbers of
 * clones and lambdas; without libc and the loader, whose names come and go
 * with a debug package; without the inner parts of standard libraries and
 * well-known wrappers of malloc; recursion counts once; nothing beyond main.
 * A function without a name is its module. Where all that leaves nothing, the
 * left-out functions are taken after all. Two sites may share one.
 */
struct fingerprint {
	uint64_t hash;
	uint32_t place;                    /* position in the site's frames of the first one */
	char text[FINGERPRINT_TEXT_BYTES]; /* "add < handle < main", may be cut */
};

struct fingerprints;

/* Borrows the view. -ENOMEM. */
int fingerprints_new(const struct view *v, struct fingerprints **ret);

/* NULL is fine. */
void fingerprints_free(struct fingerprints *f);

void fingerprints_site(
    const struct fingerprints *f, const struct view_site *site, struct fingerprint *ret);

/*
 * A demangled name without parameters, qualifiers and numbers of lambdas; the
 * caller frees it. NULL: out of memory.
 */
char *fingerprint_function(const char *name);

#endif

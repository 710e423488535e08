/* fingerprint.h - identifies a stack across rebuilds, and the type it allocates. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FINGERPRINT_H
#define SEEP_FINGERPRINT_H

#include "base/std.h"
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

/* ---- element: the C++ type that a block was allocated for, by the functions that allocated
 * it ---- */

/*
 * The function that calls the allocator must say by its template arguments what
 * it allocates: std::allocator<T> or similar, a string, or a function of a
 * container that allocates and does nothing else. A function that also copies
 * elements (std::vector<T>::push_back) may allocate for what is in them, once
 * their constructors are inlined; it only counts if T is a number or a pointer.
 * The functions that call it must know T, too: one that has the code of others
 * may have their name.
 */
struct element {
	const char *type; /* `len` bytes inside of a function's name */
	size_t len;
	const char *container; /* "std::vector" and the like; NULL: not known */
	bool is_scalar;        /* it is a number or a pointer */
};

/*
 * `functions`, demangled, from the caller of the allocator outwards; NULL: not
 * known. lines[i]: functions that were inlined there would be listed, too.
 */
bool element_find(
    const char *const *functions, const bool *lines, size_t count, struct element *ret);

/*
 * Could functions further out change the answer, which was `found`? NULL: there
 * was no type.
 */
bool element_is_open(const char *const *functions, size_t count, const struct element *found);

/*
 * The container that has this name; NULL: there is none. Texts of containers
 * stay valid for ever.
 */
const char *element_container(const char *name);

#endif

/* element.h - the C++ type that a block was allocated for, by the functions that allocated it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_ELEMENT_H
#define SEEP_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

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

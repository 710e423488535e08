/* types.h - the C++ class of a block, by its vtable. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERDICT_TYPES_H
#define SEEP_VERDICT_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "verdict/looks.h"

/*
 * An object with virtual functions begins with the address of its class's
 * vtable. Before that stands the address of the class's typeinfo, and in there
 * the address of its name. Each of the three must lie in a module, and the name
 * must be one: so it is also found where symbols are stripped.
 */
struct types_found {
	uint32_t site;
	const char *name; /* "app::Foo", see type_name.h */
};

struct types {
	struct types_found *at; /* by site, each once */
	size_t count, room;
	char *text; /* where names are */
};

/*
 * Of lost blocks of each site, some are looked at. What cannot be read has no
 * type. -ENOMEM.
 */
int types_read(pid_t pid, const struct looks *l, struct types *ret);
void types_release(struct types *t);

/* NULL: not known. */
const char *types_of(const struct types *t, uint32_t site);

/* Is this the name of a class, as a compiler writes it? */
bool types_is_name(const char *text, size_t len);

#endif

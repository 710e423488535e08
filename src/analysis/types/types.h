/* types.h - the C++ class of a block, by its vtable. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TYPES_H
#define SEEP_TYPES_H

#include <stdint.h>
#include <sys/types.h>

#include "analysis/leaks/looks.h"

/* For sites with lost blocks; vtable.h says how a name is found. */
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

#endif

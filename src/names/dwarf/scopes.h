/* scopes.h - the namespaces and classes around a function of DWARF. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SCOPES_H
#define SEEP_SCOPES_H

#include <elfutils/libdw.h>

/*
 * DWARF has no reference from a function to what contains it. So the path is
 * searched from the unit down. The lists of children on it are kept.
 */
struct scopes;

/* For functions of this unit. -ENOMEM. */
int scopes_new(const Dwarf_Die *unit, struct scopes **ret);

/* NULL is fine. */
void scopes_free(struct scopes *s);

/*
 * "a::b" for a function declared in class b of namespace a; NULL: it is in no
 * scope, or that is not known. Valid as long as s.
 */
const char *scopes_of(struct scopes *s, const Dwarf_Die *function);

#endif

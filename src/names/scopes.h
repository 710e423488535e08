/* scopes.h - the namespaces and classes around a function of DWARF. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_SCOPES_H
#define SEEP_NAMES_SCOPES_H

#include <elfutils/libdw.h>

/*
 * DWARF has no way up from a function. What lies on the way down is kept as
 * lists of children, made when first needed.
 */
struct scopes;

/* For functions of this unit. -ENOMEM. */
int scopes_new(const Dwarf_Die *unit, struct scopes **ret);

/* NULL is fine. */
void scopes_free(struct scopes *s);

/*
 * "a::b" for a function declared in class b of namespace a; NULL: in none, or
 * not known. Valid as long as s.
 */
const char *scopes_of(struct scopes *s, const Dwarf_Die *function);

#endif

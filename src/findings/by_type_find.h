/* by_type_find.h - what allocating functions say of the types of blocks, by their innermost frames alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BY_TYPE_FIND_H
#define SEEP_BY_TYPE_FIND_H

#include "names/find/names.h"
#include "session/load/session.h"
#include "view/stacks/element.h"
#include "recording/parts/census.h"

/*
 * A large program has very many sites with long stacks, and a view names all of
 * them. Types only need the few innermost frames of sites with live blocks, so
 * only these are looked up; more of them where the first do not decide.
 */
struct by_type_find;

/*
 * For all sites of a census of p. Texts are those of names, which must outlive
 * it. -ENOMEM.
 */
int by_type_find_new(const struct session *s, const struct process *p, struct names *names,
    const struct census *c, struct by_type_find **ret);

/* NULL is fine. */
void by_type_find_free(struct by_type_find *f);

/* false: the functions of this site do not say, or it is not in the census. */
bool by_type_find_site(const struct by_type_find *f, uint32_t site, struct element *ret);

#endif

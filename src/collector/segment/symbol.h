/* symbol.h - which functions an object defines, and which of others it calls. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SYMBOL_H
#define SEEP_SYMBOL_H

#include <link.h>
#include <stdbool.h>

/*
 * Looks at the dynamic symbols of a loaded object. dlsym cannot answer this: if
 * a program is not position-independent and takes the address of malloc, dlsym
 * finds an entry of the program's own PLT, which calls libc's function. False
 * if there is no DT_GNU_HASH. Start-up.
 */
bool symbol_is_defined(const struct link_map *l, const char *name);

/*
 * The same, and where the function is. NULL: it is not defined there, or it is
 * an IFUNC. If it has several versions, any of them. Start-up.
 */
void *symbol_function(const struct link_map *l, const char *name);

/*
 * Does the object use this symbol of another one? Looks at its relocations,
 * because nothing says how many symbols there are. Start-up.
 */
bool symbol_is_imported(const struct link_map *l, const char *name);

#endif

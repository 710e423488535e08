/* symbol.h - does an object define a function itself? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_SYMBOL_H
#define SEEP_COLLECTOR_SYMBOL_H

#include <link.h>
#include <stdbool.h>

/*
 * By the dynamic symbols of a loaded object. dlsym cannot tell: for a program
 * that is not position-independent and takes the address of malloc it answers
 * with an entry of the program's own PLT, behind which is libc's. False where
 * there is no DT_GNU_HASH. Start-up.
 */
bool symbol_is_defined(const struct link_map *l, const char *name);

#endif

/* wrappers.h - well-known functions that only pass an allocation on. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_WRAPPERS_H
#define SEEP_WRAPPERS_H

#include <stdbool.h>

/* Is a function of this demangled name a well-known allocator wrapper? */
bool wrappers_has(const char *function);

#endif

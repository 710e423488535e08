/* demangle.h - symbol names as their authors wrote them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NAMES_DEMANGLE_H
#define SEEP_NAMES_DEMANGLE_H

#include <stdint.h>

/*
 * C++, Rust and D demangled and qualified, symbol versions and the compiler's
 * ".constprop.0" and the like taken off. Names are not trusted: what gets too
 * long is left as it is. For free(); NULL: out of memory. Not for threads.
 */
char *demangle_name(const char *symbol);

/* SEG_API_NEW or SEG_API_NEW_ARRAY for operator new of whatever form, or 0. */
uint8_t demangle_operator_new(const char *symbol);

#endif

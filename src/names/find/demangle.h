/* demangle.h - symbol names as their authors wrote them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DEMANGLE_H
#define SEEP_DEMANGLE_H

#include <stdint.h>

/*
 * Demangles C++, Rust and D names, and removes symbol versions and suffixes of
 * the compiler such as ".constprop.0". Names are not trusted: one that would
 * get too long stays as it is. The caller frees the result; NULL: out of
 * memory. Not thread-safe.
 */
char *demangle_name(const char *symbol);

/*
 * SEG_API_NEW or SEG_API_NEW_ARRAY for any form of operator new, otherwise 0.
 */
uint8_t demangle_operator_new(const char *symbol);

#endif

/* shorten.h - short names of C++ and Rust functions. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SHORTEN_H
#define SEEP_SHORTEN_H

/*
 * Without parameters, return type and qualifiers, and with "<...>" for template
 * arguments: "void std::vector<int, std::allocator<int> >::f<char>( int) const"
 * becomes "std::vector<...>::f<...>". Names of C are not changed. The caller
 * frees it; NULL: out of memory.
 */
char *shorten_name(const char *name);

#endif

/* shorten.h - names of C++ and Rust functions as people say them. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SHORTEN_H
#define SEEP_REPORT_SHORTEN_H

/*
 * Without parameters, return type and qualifiers, "<...>" in the place of
 * template arguments: "void std::vector<int, std::allocator<int> >::f<char>(
 * int) const" is "std::vector<...>::f<...>". Names of C stay as they are. For
 * free(); NULL: out of memory.
 */
char *shorten_name(const char *name);

#endif

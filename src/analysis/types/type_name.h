/* type_name.h - the name of a C++ type, as a typeinfo has it, in plain words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TYPE_NAME_H
#define SEEP_TYPE_NAME_H

#include <stddef.h>

/*
 * "app::Foo" of "N3app3FooE", "std::vector<int, std::allocator<int> >" of
 * "St6vectorIiSaIiEE". The process has written it, so it is not given to a
 * general demangler, which belongs into the jail of names/. This one knows names
 * of classes, templates and their usual arguments; its depth and its output are
 * bounded. What it does not know (classes in template functions, addresses as
 * arguments) stays as it is. Returns the length, below `room`, which is 2 or
 * more.
 */
size_t type_name_plain(const char *name, size_t len, char *to, size_t room);

/*
 * "std::_Sp_counted_deleter<app::Foo*, ...>": the template and its first
 * argument, where others are not known. 0: these are not known either.
 */
size_t type_name_first(const char *name, size_t len, char *to, size_t room);

#endif

/* libc.c - functions of libc itself, whoever else defines their names. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/libc.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/segment/symbol.h"

#pragma weak _r_debug /* as all that a libc might lack; see next.c */

/* dlsym was in libdl before glibc 2.34. */
static bool is_libdl(const char *path)
{
	static const char begin[] = "libdl.so";
	const char *name = path;
	size_t i;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	for (i = 0; i < sizeof(begin) - 1; i++)
		if (name[i] != begin[i])
			return false;
	return true;
}

libc_any *libc_function(const char *name)
{
	static const struct link_map *libc; /* some hosts have many objects */
	const struct link_map *l = &_r_debug ? _r_debug.r_map : NULL;
	void *p = libc ? symbol_function(libc, name) : NULL;

	for (; l && !p; l = l->l_next) {
		bool is_libc = symbol_is_defined(l, "gnu_get_libc_version");

		if (is_libc)
			libc = l;
		if (is_libc || is_libdl(l->l_name))
			p = symbol_function(l, name);
	}
	return (libc_any *)(uintptr_t)p;
}

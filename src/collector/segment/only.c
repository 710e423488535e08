/* only.c - SEEP_ONLY: the programs that are traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/segment/only.h"

#include <stddef.h>

/* The part of the path that the name from `name` to `end` is compared with. */
static const char *part_of(const char *path, const char *name, const char *end)
{
	const char *base = path;

	for (; name < end; name++)
		if (*name == '/')
			return path;
	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return base;
}

static bool is_name_of(const char *path, const char *name, const char *end)
{
	if (!path)
		return false;
	path = part_of(path, name, end);
	while (name < end && *path && *name == *path)
		name++, path++;
	return name == end && !*path;
}

bool only_leaves_out(
    const char *list, const char *executable, const char *started_as, bool *ret_ignored)
{
	bool has_name = false;

	*ret_ignored = false;
	while (*list) {
		const char *end = list;

		while (*end && *end != ':')
			end++;
		if (end > list) {
			has_name = true;
			if (is_name_of(executable, list, end) || is_name_of(started_as, list, end))
				return false;
		}
		list = *end ? end + 1 : end;
	}
	*ret_ignored = !has_name;
	return has_name;
}

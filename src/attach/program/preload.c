/* preload.c - the libraries that are preloaded into a program. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/program/launch.h"

bool preload_find(fault_say *say, const char *name, char *path, size_t bytes)
{
	int err = launch_find_library(name, path, bytes);

	if (err == -EPERM)
		say("%s can be written by others, who could run code in "
		    "your programs: chmod go-w it",
		    path);
	else if (err == -EINVAL)
		say("%s cannot be preloaded: its path contains a space or "
		    "a colon; install seep elsewhere",
		    path);
	else if (err < 0)
		say("the collector %s is missing: it should be beside the "
		    "seep command, in ../lib/seep or in ../lib",
		    path);
	return err == 0;
}

void preload_companions(fault_say *say, const char *allocator, char *ret, size_t bytes)
{
	static const struct {
		const char *allocator; /* its name begins so */
		const char *library;
	} companions[] = {
	    {"", "libseep-cxx.so"},
	    {"libjemalloc", "libseep-jemalloc.so"},
	    {"libtcmalloc", "libseep-tcmalloc.so"},
	};
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]); i++) {
		const char *for_whom = companions[i].allocator;
		char path[4096];

		if (!allocator[0] || strncmp(allocator, for_whom, strlen(for_whom)))
			continue;
		if (!preload_find(say, companions[i].library, path, sizeof(path))) {
			say("so allocations that only %s has functions for "
			    "will not be recorded",
			    allocator);
			continue;
		}
		if (used + strlen(path) + 2 > bytes)
			return;
		used += (size_t)sprintf(ret + used, "%s%s", used ? ":" : "", path);
	}
}

bool preload_mappings(fault_say *say, char *list, size_t bytes)
{
	const size_t used = strlen(list);
	char path[4096];

	if (!preload_find(say, "libseep-map.so", path, sizeof(path)) ||
	    used + strlen(path) + 2 > bytes)
		return false;
	(void)sprintf(list + used, "%s%s", used ? ":" : "", path);
	return true;
}

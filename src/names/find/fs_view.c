/* fs_fs_view.c - do two processes see the same files under the same paths? */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/fs_view.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* False: it cannot be read. */
static bool read_link(const char *process, const char *what, char to[PATH_MAX])
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", process, what);
	n = readlink(path, to, PATH_MAX - 1);
	to[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/*
 * FNV-1a: the number is stored in the cache, so it must be the same each time
 */
static uint64_t add(uint64_t hash, const char *text)
{
	for (const char *p = text; *p; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t number_of(const char *process)
{
	char space[PATH_MAX], root[PATH_MAX];

	if (!read_link(process, "ns/mnt", space) || !read_link(process, "root", root))
		return 0;
	return add(add(UINT64_C(0xcbf29ce484222325), space), root) | 1;
}

uint64_t fs_view_of(pid_t pid)
{
	char text[16];
	uint64_t number;

	if (pid <= 0)
		return 0;
	(void)snprintf(text, sizeof(text), "%d", (int)pid);
	number = number_of(text);
	return number == number_of("self") ? 0 : number;
}

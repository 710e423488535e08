/* anon.c - preloaded: copies the process's account of its memory at its end. */
/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ANON_DIR/status and ANON_DIR/smaps are those of /proc/self when the destructor
 * runs. It allocates nothing.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void copy(const char *dir, const char *name)
{
	char path[PATH_MAX], bytes[4096];
	int from, to;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/self/%s", name);
	from = open(path, O_RDONLY | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	while (from >= 0 && to >= 0 && (n = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)n) != n)
			abort();
}

__attribute__((destructor)) static void at_end(void)
{
	const char *dir = getenv("ANON_DIR");

	if (!dir)
		return;
	copy(dir, "status");
	copy(dir, "smaps");
}

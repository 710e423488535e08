/* perfmap.c - functions that a run-time compiler has made: /tmp/perf-PID.map. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAME_MAX_BYTES = 4096,
	FILE_MAX_BYTES = 1 << 30,
};

/* The user whose file we believe. */
static uid_t
owner_of(const struct perfmap_process *p)
{
	char path[32];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)p->alive_pid);
	if (p->alive_pid > 0 && stat(path, &st) == 0)
		return st.st_uid;
	return geteuid();
}

/* A descriptor, or a negative errno. */
static int
open_map(const struct perfmap_process *p, const char *root)
{
	char path[96];
	struct stat st;
	int fd;

	(void)snprintf(
	    path, sizeof(path), "%s/tmp/perf-%u.map", root, (unsigned)p->pid);
	fd = open(
	    path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ELOOP ? -EPERM : -ENOENT;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (st.st_uid != owner_of(p) && st.st_uid != 0)) {
		close(fd);
		return -EPERM;
	}
	if ((uint64_t)st.st_mtime < p->start_ns / 1000000000) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int
open_any(const struct perfmap_process *p)
{
	char root[32];
	int fd = -ENOENT;

	(void)snprintf(root, sizeof(root), "/proc/%d/root", (int)p->alive_pid);
	if (p->alive_pid > 0)
		fd = open_map(p, root);
	return fd >= 0 ? fd : open_map(p, "");
}

/* "START SIZE NAME", numbers in hexadecimal. */
static void
take_line(char *line, const uint64_t *addresses, size_t count,
    perfmap_found *found, void *context)
{
	uint64_t start, size;
	size_t low = 0, high = count, len;
	char *at = line;

	start = strtoull(at, &at, 16);
	if (*at != ' ')
		return;
	size = strtoull(at, &at, 16);
	if (*at != ' ' || size == 0)
		return;
	at++;
	len = strcspn(at, "\n");
	if (len == 0)
		return;
	if (len > NAME_MAX_BYTES)
		len = NAME_MAX_BYTES;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && addresses[low] - start < size; low++)
		found(context, low, at, len);
}

int
perfmap_read(const struct perfmap_process *p, const uint64_t *addresses,
    size_t count, perfmap_found *found, void *context)
{
	/* a longer line goes on as one that is no entry */
	char line[2 * NAME_MAX_BYTES];
	size_t left = FILE_MAX_BYTES;
	int fd = open_any(p);
	FILE *f;

	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	while (fgets(line, sizeof(line), f)) {
		size_t len = strlen(line);

		if (len == 0 || len > left)
			break;
		left -= len;
		take_line(line, addresses, count, found, context);
	}
	(void)fclose(f);
	return 0;
}

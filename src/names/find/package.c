/* package.c - which package of this Debian system a file belongs to. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LISTS "/var/lib/dpkg/info"
#define USR   "/usr"

/* Is this line of a list the path, or the same file with /lib for /usr/lib? */
static bool is_path(const char *line, const char *path)
{
	if (strncmp(line, USR "/", sizeof(USR)) == 0 && strncmp(path, USR "/", sizeof(USR)) != 0)
		line += sizeof(USR) - 1;
	else if (strncmp(path, USR "/", sizeof(USR)) == 0 &&
	    strncmp(line, USR "/", sizeof(USR)) != 0)
		path += sizeof(USR) - 1;
	return strcmp(line, path) == 0;
}

static bool lists(int dir_fd, const char *name, const char *path)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = is_path(line, path);
	}
	if (f)
		(void)fclose(f);
	else if (fd >= 0)
		close(fd);
	return found;
}

/* "libc6:amd64.list", "python3.11.list" */
static char *name_of(const char *file, const char *dot)
{
	const char *colon = strchr(file, ':');

	return strndup(file, (size_t)((colon ? colon : dot) - file));
}

char *package_of(const char *path)
{
	DIR *dir = opendir(LISTS);
	char *package = NULL;
	struct dirent *d;

	while (dir && !package && (d = readdir(dir))) {
		const char *dot = strrchr(d->d_name, '.');

		if (dot && strcmp(dot, ".list") == 0 && lists(dirfd(dir), d->d_name, path))
			package = name_of(d->d_name, dot);
	}
	if (dir)
		(void)closedir(dir);
	return package;
}

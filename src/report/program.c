/* program.c - what a process is called: the program as it was started. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/program.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* DIR/NAME or DIRNAME, as `between` says, is the same file. */
static bool
is_at(const char *dir, size_t len, const char *between, const char *name,
    const struct stat *exe)
{
	char path[PATH_MAX];
	struct stat st;
	int n = snprintf(
	    path, sizeof(path), "%.*s%s%s", (int)len, dir, between, name);

	return n > 0 && (size_t)n < sizeof(path) && stat(path, &st) == 0 &&
	    st.st_dev == exe->st_dev && st.st_ino == exe->st_ino;
}

/* Is it in one of these directories, which colons separate? */
static bool
is_in(const char *dirs, const char *name, const struct stat *exe)
{
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (dirs[0] == '/' && is_at(dirs, n, "/", name, exe))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

/* Does argv[0] lead to the executable? */
static bool
leads_there(
    const struct seg_header *h, const char *argument, const struct stat *exe)
{
	size_t dir = (size_t)(last_part(h->exe) - h->exe);

	if (argument[0] == '/')
		return is_at("", 0, "", argument, exe);
	if (strchr(argument, '/'))
		return h->start_dir[0] &&
		    is_at(
		        h->start_dir, strlen(h->start_dir), "/", argument, exe);
	return is_at(h->exe, dir, "", argument, exe) ||
	    is_in(getenv("PATH"), argument, exe) ||
	    is_in(
	        "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", argument, exe);
}

/* Programs may put any text there: "-sh", "worker: idle". */
static bool
may_be_a_file(const char *name)
{
	return *name && *name != '-' &&
	    name[strspn(name,
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	        "0123456789._+-")] == '\0';
}

const char *
program_name(const struct seg_header *h)
{
	const char *exe = last_part(h->exe), *name = last_part(h->command);
	struct stat st;

	if (!may_be_a_file(name) || strcmp(name, exe) == 0)
		return *exe ? exe : "(no name)";
	if (h->exe[0] == '/' && stat(h->exe, &st) == 0)
		return leads_there(h, h->command, &st) ? name : exe;
	return name;
}

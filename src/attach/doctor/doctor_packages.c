/* doctor_packages.c - which Debian package has installed a file. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/doctor/doctor_parts.h"
#include "kit/os/infile.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

enum { LIST_MAX = 16 << 20 }; /* bytes; that of a kernel's sources is 8 MB */
#define SEARCH_NS UINT64_C(1000000000)
#define INFO      "/var/lib/dpkg/info"

struct search {
	const char *const *paths; /* as they are, and resolved: */
	char (*real)[PATH_MAX];
	char **owners;
	size_t count, left;
};

/* Is this path one of the lines? A line begins and ends with a newline. */
static bool has_line(const char *text, size_t len, const char *path)
{
	size_t n = strlen(path);
	const char *at = text;

	while ((at = memmem(at, len - (size_t)(at - text), path, n))) {
		if (at > text && at[-1] == '\n' && at[n] == '\n')
			return true;
		at++;
	}
	return false;
}

/*
 * A path as the package has it: where /lib is a link to /usr/lib, packages
 * still have files in /lib.
 */
static bool has_path(const char *text, size_t len, const char *path)
{
	if (!path[0])
		return false;
	return has_line(text, len, path) ||
	    (text_begins_with(path, "/usr/") && has_line(text, len, path + strlen("/usr")));
}

static void look_in(
    struct search *s, const char *package, size_t package_len, const char *text, size_t len)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->owners[i] ||
		    !(has_path(text, len, s->paths[i]) || has_path(text, len, s->real[i])))
			continue;
		s->owners[i] = strndup(package, package_len);
		s->left--;
	}
}

static void read_list(struct search *s, int dir, const char *name, char **buffer)
{
	int fd = infile_open_nofollow(dir, name);
	struct stat st;
	ssize_t n = -1;
	char *bigger;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= LIST_MAX &&
	    (bigger = realloc(*buffer, (size_t)st.st_size + 3))) {
		*buffer = bigger;
		n = pread(fd, bigger + 1, (size_t)st.st_size, 0);
	}
	(void)close(fd);
	if (n <= 0)
		return;
	(*buffer)[0] = '\n';
	(*buffer)[n + 1] = '\n';
	(*buffer)[n + 2] = '\0';
	look_in(s, name, strlen(name) - strlen(".list"), *buffer, (size_t)n + 2);
}

void doctor_packages(const char *const *paths, char **owners, size_t count)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + SEARCH_NS;
	struct search s = {.paths = paths, .owners = owners, .count = count, .left = count};
	DIR *dir = count ? opendir(INFO) : NULL;
	struct dirent *entry;
	char *buffer = NULL;

	s.real = calloc(count ? count : 1, sizeof(*s.real));
	for (size_t i = 0; s.real && i < count; i++)
		if (!realpath(paths[i], s.real[i]))
			s.real[i][0] = '\0';
	while (dir && s.real && s.left > 0 && (entry = readdir(dir)) &&
	    clock_ns(CLOCK_MONOTONIC) < until_ns)
		if (text_ends_with(entry->d_name, ".list"))
			read_list(&s, dirfd(dir), entry->d_name, &buffer);
	if (dir)
		(void)closedir(dir);
	free(buffer);
	free(s.real);
}

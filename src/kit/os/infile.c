/* infile.c - opens files for reading, without side effects. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

/* From linux/openat2.h, which older systems do not have. */
struct how {
	uint64_t flags, mode, resolve;
};
enum { IN_ROOT = 0x10 };

enum { READING = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* /dev/null is an empty text, and opening it does nothing. */
static bool is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static int check(const struct stat *st, bool or_null)
{
	if (S_ISREG(st->st_mode) || (or_null && is_null(st)))
		return 0;
	return S_ISDIR(st->st_mode) ? -EISDIR : S_ISLNK(st->st_mode) ? -ELOOP : -EINVAL;
}

/*
 * Opens the object behind the descriptor `seen` again, whatever its name is
 * now.
 */
static int reopen(int seen, int dir, const char *path, int flags, const struct stat *st)
{
	char self[32];
	struct stat now;
	int fd;

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	fd = open(self, READING);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	/* no /proc here */
	fd = openat(dir, path, READING | flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino)
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_seen(int dir, const char *path, int flags, bool or_null)
{
	int seen = openat(dir, path, O_PATH | O_CLOEXEC | flags), fd;
	struct stat st;

	if (seen < 0)
		return -errno;
	fd = fstat(seen, &st) < 0 ? -errno : check(&st, or_null);
	if (fd == 0)
		fd = reopen(seen, dir, path, flags, &st);
	close(seen);
	return fd;
}

int infile_open(int dir, const char *path)
{
	return open_seen(dir, path, 0, false);
}

int infile_find_in_root(const char *root, const char *path, int flags)
{
	const struct how how = {
	    .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags), .resolve = IN_ROOT};
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, err;

	if (dir < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	err = errno;
	close(dir);
	if (fd < 0 && err == EPERM)
		return -ENOSYS; /* a container's filter that is older than it */
	return fd < 0 ? -err : fd;
}

int infile_open_in_root(const char *root, const char *path)
{
	int seen = infile_find_in_root(root, path, 0), fd;
	char self[32];
	struct stat st;

	if (seen < 0)
		return seen;
	fd = fstat(seen, &st) < 0 ? -errno : check(&st, false);
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	if (fd == 0 && (fd = open(self, READING)) < 0)
		fd = -errno;
	close(seen);
	return fd;
}

int infile_open_nofollow(int dir, const char *path)
{
	return open_seen(dir, path, O_NOFOLLOW, false);
}

int infile_open_entry(int dir, const char *name)
{
	int fd = open_seen(dir, name, O_NOFOLLOW, false), seen;
	char to[PATH_MAX];
	struct stat st;
	ssize_t n = -1;

	if (fd != -ELOOP)
		return fd;
	seen = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (seen < 0)
		return -errno;
	if (fstat(seen, &st) == 0 && S_ISLNK(st.st_mode) &&
	    (st.st_uid == 0 || st.st_uid == geteuid()))
		n = readlinkat(seen, "", to, sizeof(to) - 1);
	close(seen);
	if (n <= 0)
		return -ELOOP;
	to[n] = '\0';
	return open_seen(dir, to, 0, false);
}

/* The number, if the text is only digits; otherwise -1. */
static int number(const char *digits)
{
	int n = 0;

	if (!*digits)
		return -1;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9' || n > INT_MAX / 100)
			return -1;
		n = n * 10 + (*digits - '0');
	}
	return n;
}

int infile_descriptor(const char *path)
{
	static const char *const folders[] = {
	    "/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/"};
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};

	for (int i = 0; i < 3; i++) {
		size_t len = strlen(folders[i]);

		if (strcmp(path, names[i]) == 0)
			return i;
		if (strncmp(path, folders[i], len) == 0)
			return number(path + len);
	}
	return -1;
}

int infile_open_text(const char *path)
{
	int fd = infile_descriptor(path);
	struct stat st;

	/*
	 * a file that is already open is opened again, so it is read from its
	 * beginning
	 */
	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return open_seen(AT_FDCWD, path, 0, true);
	fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return fd < 0 ? -errno : fd;
}

/* root.c - files below another root directory, which cannot lead out of it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/service/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int root_open(const char *root, const char *path, int flags)
{
	struct open_how how = {.flags = (unsigned)(flags | O_CLOEXEC),
	    .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	int dir, err;
	long fd;

	if (!root) {
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? -errno : (int)fd;
	}
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	err = fd < 0 ? -errno : 0;
	(void)close(dir);
	return err < 0 ? err : (int)fd;
}

int root_read_fd(int fd, size_t max, char **ret)
{
	size_t len = 0;
	struct stat st;
	char *text;
	int err = fstat(fd, &st) < 0 ? -errno : 0;

	if (err == 0 && !S_ISREG(st.st_mode))
		err = -EINVAL;
	else if (err == 0 && st.st_size > (off_t)max)
		err = -EFBIG;
	text = err == 0 ? malloc(max + 1) : NULL;
	if (!text) {
		(void)close(fd);
		return err < 0 ? err : -ENOMEM;
	}
	while (len < max) {
		ssize_t n = read(fd, text + len, max - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	(void)close(fd);
	if (err == 0 && memchr(text, '\0', len))
		err = -EINVAL; /* no text */
	if (err < 0) {
		free(text);
		return err;
	}
	text[len] = '\0';
	*ret = text;
	return 0;
}

int root_read(const char *root, const char *path, size_t max, char **ret)
{
	/* not blocking, because it may be a pipe */
	int fd = root_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? fd : root_read_fd(fd, max, ret);
}

int root_link(const char *root, const char *path, char *to, size_t bytes)
{
	int fd = root_open(root, path, O_PATH | O_NOFOLLOW), err = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", to, bytes - 1);
	if (n < 0)
		err = errno == ENOENT ? -EINVAL : -errno;
	else
		to[n] = '\0';
	(void)close(fd);
	return err;
}

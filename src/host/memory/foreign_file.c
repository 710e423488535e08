/* foreign_file.c - files at paths that a foreign process has chosen. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/foreign_ask.h"

#include "kit/os/infile.h"

/* Did we choose the path, or a process that is our own? */
static bool is_trusted(pid_t pid)
{
	return pid == 0 || foreign_text_is_mine(pid);
}

static int make_request(
    struct foreign_request *r, enum foreign_kind kind, pid_t pid, const char *path)
{
	*r = (struct foreign_request){.kind = kind, .pid = pid};
	return (size_t)snprintf(r->path, sizeof(r->path), "%s", path) < sizeof(r->path)
	    ? 0
	    : -ENAMETOOLONG;
}

int foreign_file_open(pid_t pid, const char *path, struct source *ret)
{
	struct foreign_request r;
	struct stat st;
	int err, fd;

	if (is_trusted(pid))
		return source_open(AT_FDCWD, path, ret);
	err = make_request(&r, FOREIGN_OPEN, pid, path);
	if (err == 0)
		err = foreign_ask_file(&r, &st, &fd);
	if (err == 0)
		source_init(&st, fd, ret);
	return err;
}

int foreign_file_open_to_write(pid_t pid, const char *path, int *ret_fd)
{
	struct foreign_request r;
	struct stat st;
	int err;

	if (is_trusted(pid)) {
		int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		if (fd < 0)
			return -errno;
		*ret_fd = fd;
		return 0;
	}
	err = make_request(&r, FOREIGN_WRITE, pid, path);
	return err < 0 ? err : foreign_ask_file(&r, &st, ret_fd);
}

static bool is_segment(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, ".seg") == 0;
}

/* Of a process of our own. */
static int list_here(const char *directory, char **ret, size_t *ret_len)
{
	int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), err;
	struct listing_names names;
	size_t len = 0;
	char *text;

	if (fd < 0)
		return -errno;
	err = listing_read(fd, is_segment, &names);
	(void)close(fd);
	for (size_t i = 0; err == 0 && i < names.count; i++)
		len += strlen(names.names[i]) + 1;
	text = err == 0 ? malloc(len + 1) : NULL;
	if (text) {
		*ret = text;
		*ret_len = len;
		for (size_t i = 0; i < names.count; i++)
			text = stpcpy(text, names.names[i]) + 1;
	} else if (err == 0) {
		err = -ENOMEM;
	}
	listing_release(&names);
	return err;
}

int foreign_file_list(pid_t pid, const char *directory, char **ret, size_t *ret_len)
{
	struct foreign_request r;
	int err;

	if (is_trusted(pid))
		return list_here(directory, ret, ret_len);
	err = make_request(&r, FOREIGN_LIST, pid, directory);
	return err < 0 ? err : foreign_ask(&r, ret, ret_len);
}

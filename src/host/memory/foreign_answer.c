/* foreign_answer.c - the helper of foreign_ask.h: opens and reads, and may hang. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/foreign_parts.h"

#include <sys/vfs.h>

#include "host/proc/folder.h"
#include "host/proc/procfs.h"
#include "kit/os/infile.h"
#include "format/medium.h"
#include "kit/os/descriptor.h"

enum { LIST_MOST = 4096 };

static ssize_t read_some(int fd, void *to, size_t bytes)
{
	ssize_t n;

	do
		n = read(fd, to, bytes);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static bool put(int socket, const void *from, size_t bytes)
{
	const char *p = from;

	while (bytes > 0) {
		ssize_t n = write(socket, p, bytes);

		if (n <= 0)
			return false;
		p += n;
		bytes -= (size_t)n;
	}
	return true;
}

/* 0 or a negative errno: the end of an answer. */
static bool put_end(int socket, int32_t err)
{
	return put(socket, &err, sizeof(err));
}

static bool put_chunk(int socket, const void *from, size_t bytes)
{
	int32_t n = (int32_t)bytes;

	return put(socket, &n, sizeof(n)) && put(socket, from, bytes);
}

static bool answer_text(int socket, const struct foreign_request *r)
{
	static char chunk[FOREIGN_CHUNK];
	int process = procfs_open(r->pid);
	int fd = process < 0 ? process : openat(process, r->path, O_RDONLY | O_CLOEXEC);
	ssize_t n = process < 0 ? process : fd < 0 ? -errno : 0;
	bool ok = true;

	if (process >= 0)
		(void)close(process);
	while (fd >= 0 && ok && (n = read_some(fd, chunk, sizeof(chunk))) > 0)
		ok = put_chunk(socket, chunk, (size_t)n);
	if (fd >= 0)
		(void)close(fd);
	return ok && put_end(socket, (int32_t)n);
}

static bool is_segment(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, ".seg") == 0;
}

static bool answer_list(int socket, const struct foreign_request *r)
{
	DIR *dir = opendir(r->path);
	const struct dirent *e;
	bool ok = true;
	size_t n = 0;

	if (!dir)
		return put_end(socket, -errno);
	while (ok && n < LIST_MOST && (e = readdir(dir)))
		if (is_segment(e->d_name)) {
			ok = put_chunk(socket, e->d_name, strlen(e->d_name) + 1);
			n++;
		}
	(void)closedir(dir);
	return ok && put_end(socket, 0);
}

static bool answer_root(int socket, const struct foreign_request *r)
{
	char root[PROCFS_ROOT_BYTES];
	int err = procfs_walk_root(r->pid, root);

	return (err < 0 || put_chunk(socket, root, strlen(root))) && put_end(socket, err);
}

static bool answer_folder(int socket, const struct foreign_request *r)
{
	struct foreign_folder f = {0};

	f.state = (uint32_t)folder_look(r->path, r->user, &f.owner);
	return put_chunk(socket, &f, sizeof(f)) && put_end(socket, 0);
}

/*
 * Is it on a file system on which collectors write (format/medium.h)? There
 * nobody but the kernel answers. Of any other not even a descriptor may leave
 * this process, because closing it can hang.
 */
static bool is_near(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && medium_of_type((uint32_t)fs.f_type) != 0;
}

/* Looks before it opens, as infile_open() does. */
static int open_for_writing(const char *path)
{
	int seen = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC), fd;
	char self[32];
	struct stat st;

	if (seen < 0)
		return -errno;
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	if (fstat(seen, &st) < 0)
		fd = -errno;
	else if (!S_ISREG(st.st_mode))
		fd = -EINVAL;
	else if ((fd = open(self, O_RDWR | O_CLOEXEC)) < 0)
		fd = -errno;
	(void)close(seen);
	return fd;
}

static bool answer_open(int socket, const struct foreign_request *r)
{
	struct foreign_opened a = {0};
	const struct iovec part = {.iov_base = &a, .iov_len = sizeof(a)};
	int fd =
	    r->kind == FOREIGN_WRITE ? open_for_writing(r->path) : infile_open(AT_FDCWD, r->path);
	bool ok;

	a.err = fd < 0 ? fd : fstat(fd, &a.stat) < 0 ? -errno : !is_near(fd) ? -EREMOTE : 0;
	ok = descriptor_send(socket, &part, 1, a.err == 0 ? fd : -1, 0);
	if (fd >= 0)
		(void)close(fd);
	return ok;
}

static bool answer(int socket, const struct foreign_request *r)
{
	switch ((enum foreign_kind)r->kind) {
	case FOREIGN_TEXT:
		return answer_text(socket, r);
	case FOREIGN_LIST:
		return answer_list(socket, r);
	case FOREIGN_ROOT:
		return answer_root(socket, r);
	case FOREIGN_FOLDER:
		return answer_folder(socket, r);
	case FOREIGN_OPEN:
	case FOREIGN_WRITE:
		return answer_open(socket, r);
	}
	return false;
}

static bool get_request(int socket, struct foreign_request *r)
{
	size_t have = 0;

	while (have < sizeof(*r)) {
		ssize_t n = read_some(socket, (char *)r + have, sizeof(*r) - have);

		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

int foreign_answer(int socket, void *nothing)
{
	static struct foreign_request r;

	(void)nothing;
	while (get_request(socket, &r) && answer(socket, &r))
		;
	return 0;
}

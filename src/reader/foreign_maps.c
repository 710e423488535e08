/* foreign_maps.c - the memory map of a process, without waiting for its lock. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "reader/foreign_parts.h"

enum {
	TEXT_MAX = 64 << 20, /* 65,530 mappings with long paths have 20 MiB */
	CHUNK = 65536,
};

/*
 * One helper for all processes that are asked for, as long as it answers: it
 * gets a pid and gives chunks, each behind its length; 0 is the end, a negative
 * errno another one.
 */
static struct {
	pid_t pid;
	int socket;
} helper;

static int
open_maps(pid_t pid)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static ssize_t
read_some(int fd, void *to, size_t bytes)
{
	ssize_t n;

	do
		n = read(fd, to, bytes);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/* ---- in the helper ---- */

static bool
put(int socket, const void *from, size_t bytes)
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

static bool
answer(int socket, pid_t pid)
{
	static char chunk[CHUNK];
	int fd = open_maps(pid);
	int32_t n = fd < 0 ? fd : 1;
	bool ok = true;

	while (n > 0 && ok) {
		n = (int32_t)read_some(fd, chunk, sizeof(chunk));
		ok = put(socket, &n, sizeof(n)) &&
		    (n <= 0 || put(socket, chunk, (size_t)n));
	}
	if (fd < 0)
		return put(socket, &n, sizeof(n));
	(void)close(fd);
	return ok;
}

static void
help(int socket)
{
	int *const fds[] = {&socket};
	pid_t pid;

	foreign_enter(fds, 1);
	while (read_some(socket, &pid, sizeof(pid)) == sizeof(pid) &&
	    answer(socket, pid))
		;
	_exit(0);
}

/* ---- in the command ---- */

static int
start(void)
{
	int both[2];

	if (helper.pid > 0)
		return 0;
	if (!foreign_may_start())
		return -ETIMEDOUT;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) < 0)
		return -errno;
	helper.pid = fork();
	if (helper.pid == 0)
		help(both[1]);
	(void)close(both[1]);
	if (helper.pid < 0) {
		(void)close(both[0]);
		return -EAGAIN;
	}
	helper.socket = both[0];
	return 0;
}

static int
give_up(int err)
{
	(void)foreign_end(helper.pid);
	(void)close(helper.socket);
	helper.pid = 0;
	return err;
}

static int
get(void *to, size_t bytes, uint64_t until_ns)
{
	struct pollfd p = {.fd = helper.socket, .events = POLLIN};
	char *at = to;

	while (bytes > 0) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		int n;

		if (now >= until_ns)
			return -ETIMEDOUT;
		n = poll(&p, 1, (int)((until_ns - now) / 1000000) + 1);
		if (n > 0) {
			ssize_t got = read_some(helper.socket, at, bytes);

			if (got <= 0)
				return -EIO;
			at += got;
			bytes -= (size_t)got;
		} else if (n < 0 && errno != EINTR) {
			return -EIO;
		}
	}
	return 0;
}

struct text {
	char *bytes;
	size_t len, room;
};

static int
make_room(struct text *t, size_t more)
{
	size_t room = t->room ? t->room : CHUNK;
	char *bytes;

	while (room < t->len + more + 1)
		room *= 2;
	if (t->len + more > TEXT_MAX)
		return -EFBIG;
	if (room == t->room)
		return 0;
	bytes = realloc(t->bytes, room);
	if (!bytes)
		return -ENOMEM;
	t->bytes = bytes;
	t->room = room;
	return 0;
}

static int
read_by_helper(pid_t pid, struct text *t)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + FOREIGN_PATIENCE_NS;
	int err = start();
	int32_t n = 0;

	if (err < 0)
		return err;
	if (send(helper.socket, &pid, sizeof(pid), MSG_NOSIGNAL) != sizeof(pid))
		return give_up(-EIO);
	for (;;) {
		err = get(&n, sizeof(n), until);
		if (err == 0 && n > CHUNK)
			err = -EIO;
		if (err == 0 && n <= 0)
			return n;
		if (err == 0)
			err = make_room(t, (size_t)n);
		if (err == 0)
			err = get(t->bytes + t->len, (size_t)n, until);
		if (err < 0)
			return give_up(err);
		t->len += (size_t)n;
	}
}

static int
read_here(pid_t pid, struct text *t)
{
	int fd = open_maps(pid), err;
	ssize_t n = 1;

	if (fd < 0)
		return fd;
	for (err = 0; n > 0 && err == 0;) {
		err = make_room(t, CHUNK);
		if (err == 0)
			n = read_some(fd, t->bytes + t->len, CHUNK);
		if (err == 0 && n > 0)
			t->len += (size_t)n;
	}
	(void)close(fd);
	return err < 0 ? err : (int)n;
}

static bool
is_mine(pid_t pid)
{
	struct stat st;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) == 0 && st.st_uid == geteuid();
}

int
foreign_maps(pid_t pid, char **ret, size_t *ret_len)
{
	struct text t = {0};
	int err;

	err = is_mine(pid) ? read_here(pid, &t) : read_by_helper(pid, &t);
	if (err == 0)
		err = make_room(&t, 0);
	if (err < 0) {
		free(t.bytes);
		return err == -ENOENT ? -ESRCH : err == -EPERM ? -EACCES : err;
	}
	t.bytes[t.len] = '\0';
	*ret = t.bytes;
	*ret_len = t.len;
	return 0;
}

/* foreign_text.c - a file of /proc/PID, without waiting for the process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
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
	SILENT_MOST = 256, /* processes that are remembered */
	LATE_SHARE = 10, /* of the run's time that silent processes may cost */
};

#define SILENT_NS UINT64_C(30000000000) /* is not asked again for so long */
#define LATE_NS   UINT64_C(10000000)    /* patience when the share is used up */

/*
 * One helper serves all requests as long as it answers. It gets a request and
 * sends chunks, each behind its length. The length 0 ends the text, and so does
 * a negative errno.
 */
struct request {
	pid_t pid;
	char name[FOREIGN_NAME_BYTES];
};

static struct {
	pid_t pid;
	int socket;
} helper;

/*
 * Processes that did not answer in time. Without this list, and without a bound
 * on the time that all of them cost, a user with many such processes could keep
 * us waiting for as long as he likes.
 */
static struct {
	struct {
		pid_t pid;
		uint64_t until_ns;
	} list[SILENT_MOST];
	size_t next;
	uint64_t first_ns; /* when the first process was asked */
	uint64_t lost_ns;  /* spent on processes that did not answer */
} silent;

/* A descriptor of /proc/PID stays with this process if another gets its pid. */
static int
open_process(pid_t pid)
{
	char path[32];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 && errno == ENOENT ? -ESRCH : fd < 0 ? -errno : fd;
}

static int
open_text(int process, const char *name)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC);

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
answer(int socket, const struct request *r)
{
	static char chunk[CHUNK];
	int process = open_process(r->pid);
	int fd = process < 0 ? process : open_text(process, r->name);
	int32_t n = fd < 0 ? fd : 1;
	bool ok = true;

	if (process >= 0)
		(void)close(process);

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
	struct request r;

	foreign_enter(fds, 1);
	while (
	    read_some(socket, &r, sizeof(r)) == sizeof(r) && answer(socket, &r))
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

static bool
is_silent(pid_t pid, uint64_t now)
{
	for (size_t i = 0; i < SILENT_MOST; i++)
		if (silent.list[i].pid == pid && now < silent.list[i].until_ns)
			return true;
	return false;
}

static void
remember_silent(pid_t pid, uint64_t asked_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	silent.lost_ns += now - asked_ns;
	silent.list[silent.next].pid = pid;
	silent.list[silent.next].until_ns = now + SILENT_NS;
	silent.next = (silent.next + 1) % SILENT_MOST;
}

/* How long to wait for the next answer. */
static uint64_t
patience(uint64_t now)
{
	uint64_t allowed;

	if (silent.first_ns == 0)
		silent.first_ns = now;
	allowed = FOREIGN_PATIENCE_NS + (now - silent.first_ns) / LATE_SHARE;
	if (silent.lost_ns + LATE_NS > allowed)
		return LATE_NS;
	allowed -= silent.lost_ns;
	return allowed < FOREIGN_PATIENCE_NS ? allowed : FOREIGN_PATIENCE_NS;
}

static int
receive(struct text *t, uint64_t until_ns)
{
	int32_t n = 0;
	int err;

	for (;;) {
		err = get(&n, sizeof(n), until_ns);
		if (err == 0 && n > CHUNK)
			err = -EIO;
		if (err == 0 && n <= 0)
			return n;
		if (err == 0)
			err = make_room(t, (size_t)n);
		if (err == 0)
			err = get(t->bytes + t->len, (size_t)n, until_ns);
		if (err < 0)
			return give_up(err);
		t->len += (size_t)n;
	}
}

static int
read_by_helper(pid_t pid, const char *name, struct text *t)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct request r = {.pid = pid};
	int err;

	if (is_silent(pid, now))
		return -ETIMEDOUT;
	err = start();
	if (err < 0)
		return err;
	(void)snprintf(r.name, sizeof(r.name), "%s", name);
	if (send(helper.socket, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
		return give_up(-EIO);
	err = receive(t, now + patience(now));
	if (err == -ETIMEDOUT)
		remember_silent(pid, now);
	return err;
}

static int
read_here(int process, const char *name, struct text *t)
{
	int fd = open_text(process, name), err;
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
is_mine(int process)
{
	struct stat st;

	return fstat(process, &st) == 0 && st.st_uid == geteuid();
}

int
foreign_text(pid_t pid, const char *name, char **ret, size_t *ret_len)
{
	struct text t = {0};
	int process, err;

	if (strlen(name) >= FOREIGN_NAME_BYTES)
		return -EINVAL;
	process = open_process(pid);
	if (process < 0)
		return process;
	err = is_mine(process) ? read_here(process, name, &t)
	                       : read_by_helper(pid, name, &t);
	(void)close(process);
	if (err == 0)
		err = make_room(&t, 0);
	if (err < 0) {
		free(t.bytes);
		return err == -EPERM ? -EACCES : err;
	}
	t.bytes[t.len] = '\0';
	*ret = t.bytes;
	*ret_len = t.len;
	return 0;
}

/* foreign_ask.c - requests to the helper that opens files of foreign processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/foreign_ask.h"

#include <sys/socket.h>

#include "host/memory/foreign_parts.h"
#include "kit/os/clock.h"
#include "kit/os/descriptor.h"
#include "kit/os/helper.h"

enum {
	TEXT_MAX = 64 << 20, /* 65,530 mappings with long paths have 20 MiB */
	SILENT_MOST = 256,   /* processes that are remembered */
	LATE_SHARE = 10,     /* of the run's time that silent processes may cost */
};

#define SILENT_NS UINT64_C(30000000000) /* it is not asked again for so long */
#define LATE_NS   UINT64_C(10000000)    /* patience when the share is used up */

static struct {
	pid_t pid;
	pid_t user; /* who started it: a child of ours must not use it */
	int socket;
} helper;

/*
 * Processes that did not answer in time. Without this list, and without a limit
 * for the time that all of them cost, a user with many such processes could
 * make us wait for as long as he likes.
 */
static struct {
	struct {
		pid_t pid;
		uint64_t until_ns;
	} list[SILENT_MOST];
	size_t next;
	uint64_t first_ns; /* when the first process was asked */
	uint64_t lost_ns;  /* time spent on processes that did not answer */
} silent;

static int start(void)
{
	const struct helper_plan plan = {
	    .run = foreign_answer, .flags = FOREIGN_HELPER, .channel = HELPER_STREAM};
	int err;

	if (helper.pid > 0 && helper.user == getpid())
		return 0;
	if (!foreign_may_start())
		return -ETIMEDOUT;
	helper.user = getpid();
	helper.pid = 0;
	err = helper_start(&plan, &helper.pid, &helper.socket);
	return err == -EAGAIN || err == -ENOMEM ? -EIO : err;
}

static int give_up(int err)
{
	(void)foreign_end(helper.pid);
	(void)close(helper.socket);
	helper.pid = 0;
	return err;
}

struct text {
	char *bytes;
	size_t len, room;
};

static int make_room(struct text *t, size_t more)
{
	size_t room = t->room ? t->room : FOREIGN_CHUNK;
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

static bool is_silent(pid_t pid, uint64_t now)
{
	for (size_t i = 0; i < SILENT_MOST; i++)
		if (silent.list[i].pid == pid && now < silent.list[i].until_ns)
			return true;
	return false;
}

static void remember_silent(pid_t pid, uint64_t asked_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	silent.lost_ns += now - asked_ns;
	silent.list[silent.next].pid = pid;
	silent.list[silent.next].until_ns = now + SILENT_NS;
	silent.next = (silent.next + 1) % SILENT_MOST;
}

/* How long to wait for the next answer. */
static uint64_t patience(uint64_t now)
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

static int receive(struct text *t, uint64_t until_ns)
{
	int32_t n = 0;
	int err;

	for (;;) {
		err = helper_read(helper.socket, &n, sizeof(n), until_ns);
		if (err == 0 && n > FOREIGN_CHUNK)
			err = -EIO;
		if (err == 0 && n <= 0)
			return n;
		if (err == 0)
			err = make_room(t, (size_t)n);
		if (err == 0)
			err = helper_read(helper.socket, t->bytes + t->len, (size_t)n, until_ns);
		if (err < 0)
			return give_up(err);
		t->len += (size_t)n;
	}
}

/* The request has been sent; *ret_until_ns is the deadline of its answer. */
static int begin(const struct foreign_request *r, uint64_t now, uint64_t *ret_until_ns)
{
	int err;

	if (is_silent(r->pid, now))
		return -ETIMEDOUT;
	err = start();
	if (err < 0)
		return err;
	if (send(helper.socket, r, sizeof(*r), MSG_NOSIGNAL) != sizeof(*r))
		return give_up(-EIO);
	*ret_until_ns = now + patience(now);
	return 0;
}

int foreign_ask(const struct foreign_request *r, char **ret, size_t *ret_len)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until_ns;
	struct text t = {0};
	int err;

	err = begin(r, now, &until_ns);
	if (err < 0)
		return err;
	err = receive(&t, until_ns);
	if (err == -ETIMEDOUT)
		remember_silent(r->pid, now);
	if (err == 0)
		err = make_room(&t, 0);
	if (err < 0) {
		free(t.bytes);
		return err;
	}
	t.bytes[t.len] = '\0';
	*ret = t.bytes;
	*ret_len = t.len;
	return 0;
}

int foreign_ask_file(const struct foreign_request *r, struct stat *ret_stat, int *ret_fd)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until_ns;
	struct foreign_opened a = {.err = -EIO};
	int err, fd = -1;

	err = begin(r, now, &until_ns);
	if (err < 0)
		return err;
	err = helper_await(helper.socket, until_ns);
	if (err == 0 && !descriptor_receive(helper.socket, &a, sizeof(a), 0, &fd))
		err = -EIO;
	if (err == -ETIMEDOUT)
		remember_silent(r->pid, now);
	if (err < 0)
		return give_up(err);
	if (a.err < 0)
		return a.err;
	if (fd < 0)
		return -EMFILE;
	*ret_stat = a.stat;
	*ret_fd = fd;
	return 0;
}

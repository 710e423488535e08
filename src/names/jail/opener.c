/* opener.c - opens files at untrusted paths, in a process that may hang. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/descriptor.h"
#include "names/jail/opener.h"

#include <sys/socket.h>

#include "kit/os/clock.h"
#include "kit/os/helper.h"

enum {
	QUESTION_MS = 5000,
	HUNG_MAX = 16, /* then the file systems of this input are given up */
};

struct opener {
	pid_t pid;    /* 0: none runs */
	pid_t ending; /* killed, but not waited for yet; 0: none */
	int fd;
	uint64_t deadline_ns;
	char *hung_dirs[HUNG_MAX]; /* nothing more is asked for there */
	size_t hung, left;
	bool has_failed; /* no process can be started */
};

int opener_new(struct opener **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void opener_dismiss(struct opener *o)
{
	if (!o->pid)
		return;
	close(o->fd);
	(void)kill(o->pid, SIGKILL);
	if (waitpid(o->pid, NULL, WNOHANG) == 0)
		o->ending = o->pid;
	o->pid = 0;
}

/* Waits for the process that was dismissed, which has ended by now. */
static void forget_ending(struct opener *o)
{
	if (o->ending && waitpid(o->ending, NULL, WNOHANG) != 0)
		o->ending = 0;
}

void opener_rest(struct opener *o)
{
	int status;

	if (!o->pid)
		return;
	close(o->fd); /* it ends when its parent has closed the socket */
	if (!helper_end(o->pid, 0, &status))
		o->left++;
	o->pid = 0;
}

void opener_free(struct opener *o)
{
	if (!o)
		return;
	opener_dismiss(o);
	forget_ending(o);
	for (size_t i = 0; i < HUNG_MAX; i++)
		free(o->hung_dirs[i]);
	free(o);
}

void opener_set_deadline(struct opener *o, uint64_t deadline_ns)
{
	o->deadline_ns = deadline_ns;
}

size_t opener_left(const struct opener *o)
{
	return o->left;
}

/* Is it root or the user who runs us? */
static bool is_ours(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

bool opener_may_choose(uid_t chooser, uid_t owner)
{
	return owner == chooser || (is_ours(owner) && is_ours(chooser));
}

bool opener_is_trusted(const struct opener_file *f)
{
	return is_ours(f->owner) && (f->mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* ---- in the process that opens ---- */

/* Sends the answer with the descriptor, or without one if it is -1. */
static bool reply(int to, const struct opening_reply *r, int fd)
{
	const struct iovec part = {.iov_base = (void *)(uintptr_t)r, .iov_len = sizeof(*r)};

	return descriptor_send(to, &part, 1, fd, 0);
}

static int serve(int fd, void *context)
{
	struct opening_question q;
	bool go_on = true;

	(void)context;
	while (go_on) {
		struct opening_reply r;
		ssize_t n = recv(fd, &q, sizeof(q), 0);
		int file = -1;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= (ssize_t)offsetof(struct opening_question, path))
			break;
		q.path[n - (ssize_t)offsetof(struct opening_question, path) - 1] = '\0';
		opening_do(&q, &r, &file);
		go_on = reply(fd, &r, file);
		if (file >= 0)
			close(file);
	}
	return 0;
}

/* ---- in the process that asks ---- */

static int start(struct opener *o)
{
	const struct helper_plan plan = {.run = serve,
	    .flags = HELPER_DIES | HELPER_NO_INTERRUPT | HELPER_DARK | HELPER_CLOSES,
	    .channel = HELPER_PACKETS};

	if (o->pid)
		return 0;
	forget_ending(o);
	if (!o->has_failed && helper_start(&plan, &o->pid, &o->fd) == 0)
		return 0;
	o->has_failed = true;
	return -EAGAIN;
}

/* False: no answer in time. */
static bool wait_for_answer(const struct opener *o)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + UINT64_C(1000000) * QUESTION_MS;

	if (o->deadline_ns && o->deadline_ns < until)
		until = o->deadline_ns;
	return helper_await(o->fd, until) == 0;
}

/* Many modules may be beside one that hung, and they are not tried. */
static void remember_hung(struct opener *o, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash && slash > path)
		o->hung_dirs[o->hung] = strndup(path, (size_t)(slash - path));
	o->hung++;
}

static bool is_hung(const struct opener *o, const char *path)
{
	for (size_t i = 0; i < o->hung; i++) {
		size_t len = o->hung_dirs[i] ? strlen(o->hung_dirs[i]) : 0;

		if (len > 0 && strncmp(path, o->hung_dirs[i], len) == 0 && path[len] == '/')
			return true;
	}
	return o->hung >= HUNG_MAX;
}

static int send_question(struct opener *o, const struct opener_question *from, bool wants_fd)
{
	struct opening_question q = {.kind = from->kind,
	    .root_bytes = (uint32_t)from->root_bytes,
	    .check_owner = from->check_owner,
	    .chooser = from->chooser,
	    .wants_fd = wants_fd};
	size_t len = strnlen(from->path, sizeof(q.path));
	size_t all = offsetof(struct opening_question, path) + len + 1;

	if (len == 0 || len >= sizeof(q.path))
		return len ? -ENAMETOOLONG : -ENOENT;
	memcpy(q.path, from->path, len + 1);
	return send(o->fd, &q, all, MSG_NOSIGNAL) == (ssize_t)all ? 0 : -EAGAIN;
}

int opener_ask(
    struct opener *o, const struct opener_question *q, struct opener_file *ret, int *ret_fd)
{
	struct opening_reply r;
	int fd = -1, err;

	if ((o->deadline_ns && clock_ns(CLOCK_MONOTONIC) >= o->deadline_ns) || is_hung(o, q->path))
		return -ETIMEDOUT;
	err = start(o);
	if (err == 0)
		err = send_question(o, q, ret_fd != NULL);
	if (err == 0 && !wait_for_answer(o)) {
		remember_hung(o, q->path);
		opener_rest(o);
		return -ETIMEDOUT;
	}
	if (err == 0)
		err = descriptor_receive(o->fd, &r, sizeof(r), 0, &fd) ? 0 : -EAGAIN;
	if (err == -EAGAIN)
		opener_rest(o); /* it has died */
	if (err < 0)
		return err;
	if (r.err == 0 && ret_fd && fd < 0)
		return -EMFILE;
	if (ret_fd && r.err == 0)
		*ret_fd = fd;
	else if (fd >= 0)
		close(fd);
	*ret = r.file;
	return r.err;
}

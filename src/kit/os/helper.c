/* helper.c - child processes of ours that do one thing, and may hang or die. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/helper.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "kit/os/clock.h"

enum {
	FIRST_FD = 3,
	ASIDE_FD = 64, /* above all descriptors that a helper keeps */
	KILLED_MS = 1000,
};

#define MS UINT64_C(1000000) /* in ns */

/* ---- in the helper ---- */

static void default_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)signal(i, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Descriptors 0 to 2; out: -1 is /dev/null. */
static void redirect(int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < FIRST_FD; fd++) {
		int from = fd > 0 && out >= 0 ? out : null;

		if (from < 0 || dup2(from, fd) < 0)
			(void)close(fd);
	}
	if (null >= FIRST_FD)
		(void)close(null);
}

static void close_above(int last)
{
	if (syscall(SYS_close_range, (unsigned)last + 1, ~0U, 0) == 0)
		return;
	for (int fd = last + 1; fd < 1024; fd++) /* before Linux 5.9 */
		(void)close(fd);
}

/* *fd and those of the plan get the numbers from 3 on. */
static void keep_descriptors(const struct helper_plan *p, int *fd)
{
	int next = FIRST_FD;

	/* first out of the way: one may have the number that another gets */
	if (p->keep_count > 0 && *fd >= 0)
		*fd = fcntl(*fd, F_DUPFD, ASIDE_FD);
	for (size_t i = 0; i < p->keep_count; i++)
		if (*p->keep[i] >= 0)
			*p->keep[i] = fcntl(*p->keep[i], F_DUPFD, ASIDE_FD);
	if (*fd >= 0)
		*fd = dup2(*fd, next++);
	for (size_t i = 0; i < p->keep_count; i++)
		if (*p->keep[i] >= 0)
			*p->keep[i] = dup2(*p->keep[i], next++);
	close_above(next - 1);
}

static _Noreturn void become(const struct helper_plan *p, pid_t parent, int fd)
{
	const struct rlimit none = {0, 0};

	if (p->flags & HELPER_GROUP)
		(void)setpgid(0, 0);
	if (p->flags & HELPER_DIES) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	if (p->flags & HELPER_SIGNALS)
		default_signals();
	if (p->flags & HELPER_NO_INTERRUPT)
		(void)signal(SIGINT, SIG_IGN);
	if (p->flags & HELPER_SECRET) {
		(void)setrlimit(RLIMIT_CORE, &none);
		(void)prctl(PR_SET_DUMPABLE, 0);
	}
	if (p->flags & (HELPER_DARK | HELPER_PRINTS))
		redirect(p->flags & HELPER_PRINTS ? fd : -1);
	if (p->flags & HELPER_CLOSES)
		keep_descriptors(p, &fd);
	_exit(p->run(fd, p->context));
}

/* ---- in the command ---- */

/* [0] is ours. */
static int make_channel(enum helper_channel channel, int both[2])
{
	int type = channel == HELPER_STREAM ? SOCK_STREAM : SOCK_SEQPACKET;

	both[0] = both[1] = -1;
	if (channel == HELPER_SILENT)
		return 0;
	if (channel == HELPER_PIPE)
		return pipe2(both, O_CLOEXEC) < 0 ? -errno : 0;
	return socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, both) < 0 ? -errno : 0;
}

static void close_if_open(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

int helper_start(const struct helper_plan *p, pid_t *ret_pid, int *ret_fd)
{
	pid_t parent = getpid(), child;
	int both[2], err = make_channel(p->channel, both);

	if (err < 0)
		return err;
	child = fork();
	if (child == 0) {
		close_if_open(both[0]);
		become(p, parent, both[1]);
	}
	err = child < 0 ? -errno : 0;
	close_if_open(both[1]);
	if (err < 0) {
		close_if_open(both[0]);
		return err;
	}
	if (p->flags & HELPER_GROUP)
		(void)setpgid(child, child); /* whoever comes first */
	*ret_pid = child;
	if (ret_fd)
		*ret_fd = both[0];
	return 0;
}

int helper_await(int fd, uint64_t until_ns)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t now;

	while ((now = clock_ns(CLOCK_MONOTONIC)) < until_ns) {
		int n = poll(&p, 1, (int)((until_ns - now) / MS) + 1);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -EIO;
	}
	return -ETIMEDOUT;
}

int helper_read(int fd, void *to, size_t bytes, uint64_t until_ns)
{
	char *at = to;

	while (bytes > 0) {
		int err = helper_await(fd, until_ns);
		ssize_t got;

		if (err < 0)
			return err;
		got = read(fd, at, bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -EIO;
		at += got;
		bytes -= (size_t)got;
	}
	return 0;
}

bool helper_wait(pid_t pid, unsigned ms, int *ret_status)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + ms * MS;
	struct timespec pause = {.tv_nsec = 20000};

	for (;;) {
		pid_t got = waitpid(pid, ret_status, WNOHANG);

		/* an error: somebody else has already waited for it */
		if (got == pid || (got < 0 && errno != EINTR))
			return true;
		if (clock_ns(CLOCK_MONOTONIC) >= until)
			return false;
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < (long)(10 * MS))
			pause.tv_nsec *= 2;
	}
}

bool helper_end(pid_t pid, unsigned grace_ms, int *ret_status)
{
	if (grace_ms > 0 && helper_wait(pid, grace_ms, ret_status))
		return true;
	(void)kill(pid, SIGKILL);
	return helper_wait(pid, KILLED_MS, ret_status);
}

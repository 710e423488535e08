/* clerk.c - child processes that write profiles, pages and reports. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "net/clerk.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

#define S UINT64_C(1000000000)

enum {
	NICE = 5,
	FAILED = 1, /* exit status: a line is in the file */
	/* of one reply: a page of very many stacks has some tens of MiB */
	REPLY_MAX = 512 << 20,
};

struct desk {
	pid_t pid;    /* 0: free */
	bool is_left; /* killed, and nobody waits for it any more */
	int pidfd, file;
	uint64_t until_ns;
	struct clerk_job job;
};

struct clerks {
	int epoll;
	struct desk desks[CLERK_JOBS];
	uint64_t jobs, failed;
};

int
clerks_new(struct clerks **ret)
{
	struct clerks *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll < 0) {
		int err = -errno;

		free(c);
		return err;
	}
	*ret = c;
	return 0;
}

/* The group is that of its helpers: a child that looks for names has some. */
static void
kill_child(const struct desk *d)
{
	(void)kill(-d->pid, SIGKILL);
	(void)kill(d->pid, SIGKILL);
}

/* Has it ended? Its status stays for reap(). */
static bool
has_ended(const struct desk *d)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)d->pid, &info, WEXITED | WNOHANG | WNOWAIT) <
	    0 ||
	    info.si_pid == d->pid;
}

static int
reap(struct desk *d)
{
	int status = 0;

	(void)waitpid(d->pid, &status, WNOHANG);
	if (d->pidfd >= 0)
		(void)close(d->pidfd);
	d->pid = 0;
	return status;
}

/* Not even SIGKILL ends a child at once that waits for a disk. */
static void
leave_alone(struct desk *d)
{
	kill_child(d);
	(void)close(d->file);
	d->is_left = true;
}

void
clerks_free(struct clerks *c)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + S;

	if (!c)
		return;
	for (size_t i = 0; i < CLERK_JOBS; i++)
		if (c->desks[i].pid && !c->desks[i].is_left)
			leave_alone(&c->desks[i]);
	for (size_t i = 0; i < CLERK_JOBS; i++) {
		while (c->desks[i].pid && !has_ended(&c->desks[i]) &&
		    clock_ns(CLOCK_MONOTONIC) < until)
			(void)poll(NULL, 0, 2);
		if (c->desks[i].pid)
			(void)reap(&c->desks[i]);
	}
	(void)close(c->epoll);
	free(c);
}

int
clerks_fd(const struct clerks *c)
{
	return c->epoll;
}

int
clerks_wait_ms(const struct clerks *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next = UINT64_MAX;

	for (size_t i = 0; i < CLERK_JOBS; i++)
		if (c->desks[i].pid && !c->desks[i].is_left &&
		    c->desks[i].until_ns < next)
			next = c->desks[i].until_ns;
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000) + 1;
}

static void
finish(struct clerks *c, struct desk *d)
{
	const struct clerk_job job = d->job;
	int file = d->file, status = reap(d);
	bool is_fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	bool is_said = WIFEXITED(status) && WEXITSTATUS(status) == FAILED;
	struct stat st = {.st_size = 0};

	c->failed += !is_fine;
	if ((is_fine || is_said) && fstat(file, &st) == 0 &&
	    (is_fine || st.st_size > 0)) {
		job.done(&job, is_fine ? 0 : -EIO, file, (uint64_t)st.st_size);
		return;
	}
	(void)close(file);
	job.done(&job, -ECHILD, -1, 0);
}

void
clerks_step(struct clerks *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < CLERK_JOBS; i++) {
		struct desk *d = &c->desks[i];

		if (d->pid == 0)
			continue;
		if (has_ended(d)) {
			if (d->is_left)
				(void)reap(d);
			else
				finish(c, d);
		} else if (!d->is_left && now >= d->until_ns) {
			const struct clerk_job job = d->job;

			leave_alone(d);
			c->failed++;
			job.done(&job, -ETIMEDOUT, -1, 0);
		}
	}
}

/* In the child. */
static _Noreturn void
work(const struct clerk_job *job, int file, pid_t parent)
{
	struct rlimit limit = {REPLY_MAX, REPLY_MAX};
	sigset_t none;
	FILE *out;
	int err, score;

	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(2);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	/* where memory is short, a page is missing and not the server */
	score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (score >= 0) {
		(void)!write(score, "500", 3);
		(void)close(score);
	}
	job->leave(job->context);
	out = fdopen(file, "w");
	err = out ? job->write(job->task, out) : -ENOMEM;
	if (out && fflush(out) != 0 && err == 0)
		err = -EIO;
	_exit(err < 0 ? FAILED : 0);
}

static struct desk *
free_desk(struct clerks *c, bool is_slow)
{
	struct desk *found = NULL;
	size_t slow = 0;

	for (size_t i = 0; i < CLERK_JOBS; i++) {
		if (c->desks[i].pid == 0)
			found = &c->desks[i];
		else
			slow += c->desks[i].job.wait_s > 0;
	}
	return is_slow && slow >= CLERK_SLOW ? NULL : found;
}

int
clerks_start(struct clerks *c, const struct clerk_job *job)
{
	struct desk *d = free_desk(c, job->wait_s > 0);
	struct epoll_event e = {.events = EPOLLIN};
	pid_t parent = getpid(), pid;
	int err, file;

	if (!d)
		return -EBUSY;
	file = memfd_create("seep-reply", MFD_CLOEXEC);
	if (file < 0)
		return -errno;
	/* what is in the buffers must not be written twice */
	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		work(job, file, parent);
	if (pid < 0) {
		err = -errno;
		(void)close(file);
		return err;
	}
	(void)setpgid(pid, pid);
	*d = (struct desk){.pid = pid,
	    .file = file,
	    .pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
	    .job = *job,
	    .until_ns = clock_ns(CLOCK_MONOTONIC) +
	        (CLERK_SECONDS + (uint64_t)job->wait_s) * S};
	if (d->pidfd >= 0)
		(void)epoll_ctl(c->epoll, EPOLL_CTL_ADD, d->pidfd, &e);
	c->jobs++;
	return 0;
}

void
clerks_cancel(struct clerks *c, const void *owner)
{
	for (size_t i = 0; i < CLERK_JOBS; i++) {
		struct desk *d = &c->desks[i];

		if (d->pid && !d->is_left && d->job.owner == owner)
			leave_alone(d);
	}
}

uint64_t
clerks_jobs(const struct clerks *c, uint64_t *ret_failed)
{
	*ret_failed = c->failed;
	return c->jobs;
}

/* clerk.c - child processes that write profiles, pages and reports. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/clerk.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "kit/os/clock.h"
#include "kit/os/helper.h"

#define S UINT64_C(1000000000)

enum {
	NICE = 5,
	FAILED = 1, /* exit status: a line is in the file */
	/* of one reply: a page of very many stacks has some tens of MiB */
	REPLY_MAX = 512 << 20,
};

enum state {
	FREE,
	QUEUED, /* there is no child yet */
	WORKS,
	LEFT, /* killed, and nobody waits for it any more */
};

struct desk {
	enum state state;
	uint64_t order; /* of coming */
	pid_t pid;
	int pidfd, file;
	uint64_t until_ns;
	struct clerk_job job;
};

struct clerks {
	int epoll;
	struct desk desks[CLERK_JOBS];
	uint64_t jobs, failed; /* so far */
};

int clerks_new(struct clerks **ret)
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
static void kill_child(const struct desk *d)
{
	(void)kill(-d->pid, SIGKILL);
	(void)kill(d->pid, SIGKILL);
}

/* Has it ended? Its status stays for reap(). */
static bool has_ended(const struct desk *d)
{
	siginfo_t info = {.si_pid = 0};

	return waitid(P_PID, (id_t)d->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    info.si_pid == d->pid;
}

static int reap(struct desk *d)
{
	int status = 0;

	(void)waitpid(d->pid, &status, WNOHANG);
	if (d->pidfd >= 0)
		(void)close(d->pidfd);
	d->state = FREE;
	return status;
}

/* Not even SIGKILL ends a child at once that waits for a disk. */
static void leave_alone(struct desk *d)
{
	if (d->state == QUEUED) {
		free(d->job.task);
		d->state = FREE;
	} else if (d->state == WORKS) {
		kill_child(d);
		(void)close(d->file);
		d->state = LEFT;
	}
}

void clerks_free(struct clerks *c)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + S;

	if (!c)
		return;
	for (size_t i = 0; i < CLERK_JOBS; i++)
		leave_alone(&c->desks[i]);
	for (size_t i = 0; i < CLERK_JOBS; i++) {
		struct desk *d = &c->desks[i];

		while (d->state == LEFT && !has_ended(d) && clock_ns(CLOCK_MONOTONIC) < until)
			(void)poll(NULL, 0, 2);
		if (d->state == LEFT)
			(void)reap(d);
	}
	(void)close(c->epoll);
	free(c);
}

int clerks_fd(const struct clerks *c)
{
	return c->epoll;
}

int clerks_wait_ms(const struct clerks *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next = UINT64_MAX;

	for (size_t i = 0; i < CLERK_JOBS; i++)
		if ((c->desks[i].state == WORKS || c->desks[i].state == QUEUED) &&
		    c->desks[i].until_ns < next)
			next = c->desks[i].until_ns;
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)((next - now) / 1000000) + 1;
}

static void finish(struct clerks *c, struct desk *d)
{
	const struct clerk_job job = d->job;
	int file = d->file, status = reap(d);
	bool is_fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	bool is_said = WIFEXITED(status) && WEXITSTATUS(status) == FAILED;
	struct stat st = {.st_size = 0};

	c->failed += !is_fine;
	if ((is_fine || is_said) && fstat(file, &st) == 0 && (is_fine || st.st_size > 0)) {
		job.done(&job, is_fine ? 0 : -EIO, file, (uint64_t)st.st_size);
		return;
	}
	(void)close(file);
	job.done(&job, -ECHILD, -1, 0);
}

/* Its time is over, or there is no child to be had. */
static void give_up(struct clerks *c, struct desk *d, int err)
{
	const struct clerk_job job = d->job;

	leave_alone(d);
	c->failed++;
	job.done(&job, err, -1, 0);
}

static void start_waiting(struct clerks *c);

void clerks_step(struct clerks *c)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < CLERK_JOBS; i++) {
		struct desk *d = &c->desks[i];
		bool is_child = d->state == WORKS || d->state == LEFT;

		if (is_child && has_ended(d)) {
			if (d->state == LEFT)
				(void)reap(d);
			else
				finish(c, d);
		} else if ((d->state == WORKS || d->state == QUEUED) && now >= d->until_ns) {
			give_up(c, d, -ETIMEDOUT);
		}
	}
	start_waiting(c);
}

/* In the child. */
static int work(int none, void *context)
{
	const struct desk *d = context;
	struct rlimit limit = {REPLY_MAX, REPLY_MAX};
	FILE *out;
	int err, score;

	(void)none;
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)setpriority(PRIO_PROCESS, 0, NICE);
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	/* where memory is short, a page is missing and not the server */
	score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (score >= 0) {
		(void)!write(score, "500", 3);
		(void)close(score);
	}
	out = fdopen(d->file, "w");
	err = out ? d->job.write(d->job.task, out) : -ENOMEM;
	if (out && fflush(out) != 0 && err == 0)
		err = -EIO;
	return err < 0 ? FAILED : 0;
}

/* Turns `d` from QUEUED into WORKS. */
static int start_child(struct clerks *c, struct desk *d)
{
	const struct helper_plan plan = {
	    .run = work, .context = d, .flags = HELPER_DIES | HELPER_SIGNALS | HELPER_GROUP};
	struct epoll_event e = {.events = EPOLLIN};
	int err;

	d->file = memfd_create("seep-reply", MFD_CLOEXEC);
	if (d->file < 0)
		return -errno;
	/* what is in the buffers must not be written twice */
	(void)fflush(NULL);
	err = helper_start(&plan, &d->pid, NULL);
	if (err < 0) {
		(void)close(d->file);
		return err;
	}
	free(d->job.task);
	d->job.task = NULL;
	d->state = WORKS;
	d->pidfd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	d->until_ns = clock_ns(CLOCK_MONOTONIC) + (CLERK_SECONDS + (uint64_t)d->job.wait_s) * S;
	if (d->pidfd >= 0)
		(void)epoll_ctl(c->epoll, EPOLL_CTL_ADD, d->pidfd, &e);
	return 0;
}

/* Children that work; of the slow ones, also those that are to come. */
static size_t count_jobs(const struct clerks *c, bool is_slow)
{
	size_t n = 0;

	for (size_t i = 0; i < CLERK_JOBS; i++) {
		const struct desk *d = &c->desks[i];

		n += d->state != FREE && (d->state != QUEUED || is_slow) &&
		    (d->job.wait_s > 0) == is_slow;
	}
	return n;
}

static bool may_start(const struct clerks *c, const struct desk *d)
{
	return d->job.wait_s > 0 || count_jobs(c, false) < CLERK_BUSY;
}

/* Who came first is first. */
static struct desk *next_waiting(struct clerks *c)
{
	struct desk *found = NULL;

	for (size_t i = 0; i < CLERK_JOBS; i++) {
		struct desk *d = &c->desks[i];

		if (d->state == QUEUED && (!found || d->order < found->order) && may_start(c, d))
			found = d;
	}
	return found;
}

static void start_waiting(struct clerks *c)
{
	struct desk *d;

	while ((d = next_waiting(c)) != NULL) {
		int err = start_child(c, d);

		if (err < 0)
			give_up(c, d, err);
	}
}

int clerks_start(struct clerks *c, const struct clerk_job *job)
{
	struct desk *d = NULL;
	int err;

	for (size_t i = 0; i < CLERK_JOBS && !d; i++)
		if (c->desks[i].state == FREE)
			d = &c->desks[i];
	if (!d || (job->wait_s > 0 && count_jobs(c, true) >= CLERK_SLOW))
		return -EBUSY;
	*d = (struct desk){.state = QUEUED,
	    .order = c->jobs++,
	    .job = *job,
	    .until_ns = clock_ns(CLOCK_MONOTONIC) + CLERK_SECONDS * S};
	err = may_start(c, d) ? start_child(c, d) : 0;
	if (err < 0) {
		d->state = FREE;
		c->failed++;
	}
	return err;
}

void clerks_cancel(struct clerks *c, const void *owner)
{
	for (size_t i = 0; i < CLERK_JOBS; i++) {
		if (c->desks[i].job.owner == owner)
			leave_alone(&c->desks[i]);
	}
}

uint64_t clerks_jobs(const struct clerks *c, uint64_t *ret_failed)
{
	*ret_failed = c->failed;
	return c->jobs;
}
